"""The command line: declares commands and options; the work is in the modules beside it.

Those modules are imported when their command runs, so that `planloom --help` stays fast.
"""

from __future__ import annotations

import io
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, cast

import typer
from typer.exceptions import TyperException
from typer.main import get_command

from planloom.apps.chinese import in_chinese
from planloom.apps.exit_codes import CANCELLED, FAILED, TERMINATED, USAGE
from planloom.apps.language import language_of
from planloom.apps.terminal import printable
from planloom.apps.termination import Termination
from planloom.errors import ConfigError, PlanloomError, UsageError
from planloom.notes import Lang

app = typer.Typer(
    name="planloom",
    help="Planloom weaves a goal into a finished deliverable.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class ReportLanguage(StrEnum):
    """Values of `planloom report --lang`."""

    auto = "auto"
    en = "en"
    zh = "zh"


class PlanFormat(StrEnum):
    """Values of `planloom run --plan-format`."""

    auto = "auto"
    lines = "lines"
    json = "json"
    constrained = "constrained"


Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Language = Annotated[
    ReportLanguage, typer.Option("--lang", help="Language of the answer; auto: that of the goal.")
]
Model = Annotated[str | None, typer.Option(help="The language model; PLANLOOM_MODEL by default.")]
BaseUrl = Annotated[str | None, typer.Option(help="Address of an OpenAI-compatible service.")]
MaxCost = Annotated[float | None, typer.Option(help="Most US dollars that models may cost.")]
MaxTokens = Annotated[int | None, typer.Option(help="Most tokens that models may use.")]
MaxCalls = Annotated[int | None, typer.Option(help="Most calls of models.")]
MaxTime = Annotated[str | None, typer.Option(help="Longest run, such as 90s or 5m.")]
SendPersonalData = Annotated[
    bool,
    typer.Option(
        "--send-personal-data",
        help="Let names, mail addresses, phone, id and card numbers reach the model.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Allow every step without asking.")]
Allow = Annotated[
    list[str] | None,
    typer.Option(metavar="EFFECT", help="Allow steps of this effect without asking."),
]


def main() -> None:
    """Run the command that the arguments name, and exit with its code."""
    lang = language_of(os.environ)
    _use_utf8()
    termination = Termination()
    try:
        with termination.listening():
            code = _run(lang)
    except KeyboardInterrupt:  # before the command, or after it
        code = CANCELLED
    sys.exit(TERMINATED if termination.happened and code == CANCELLED else code)


def _run(lang: Lang) -> int:
    command = get_command(app)
    if lang == "zh":
        in_chinese(command)
    try:
        # Typer gives back what the command function returned: an exit code.
        return cast("int | None", command(standalone_mode=False)) or 0
    except PlanloomError as error:
        print(printable(error.text(lang)), file=sys.stderr)
        return USAGE if isinstance(error, ConfigError | UsageError) else FAILED
    except TyperException as error:
        print(f"planloom: {error.format_message()} See: planloom --help", file=sys.stderr)
        return USAGE
    except (typer.Abort, KeyboardInterrupt):
        return CANCELLED
    except BrokenPipeError:
        # The reader (head, less) went away; Python must not complain about that at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED


def _use_utf8() -> None:
    """Print any character on any console, rather than fail on old code pages."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> int:
    """Show the version, or the help when no command is named."""
    if version:
        from planloom import __version__

        print(f"planloom {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())
        return USAGE
    return 0


@app.command(help="Turn data files and a goal into an illustrated, verified report.")
def report(  # noqa: PLR0913, PLR0917 -- each option is a parameter
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Data files.")],
    goal: Annotated[
        str, typer.Option("--goal", "-g", help="What you want to know, in your own words.")
    ] = "",
    out: Annotated[
        Path | None, typer.Option(help="Folder of the report; ./report-<run id> by default.")
    ] = None,
    lang: Annotated[
        ReportLanguage, typer.Option(help="Language of the report; auto: that of the goal.")
    ] = ReportLanguage.auto,
    formats: Annotated[str, typer.Option("--format", help="html, md or html,md.")] = "html,md",
    model: Model = None,
    no_model: Annotated[
        bool, typer.Option("--no-model", help="Use no model, even if one is configured.")
    ] = False,
    base_url: BaseUrl = None,
    max_cost: MaxCost = None,
    max_tokens: MaxTokens = None,
    max_calls: MaxCalls = None,
    max_time: MaxTime = None,
    send_personal_data: SendPersonalData = False,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Run the report agent."""
    from planloom.apps.model_options import ModelOptions
    from planloom.apps.report_command import ReportChoices, run

    return run(
        files,
        goal,
        ModelOptions(model, base_url, max_cost, max_tokens, max_calls, max_time),
        ReportChoices(
            out=out, lang=lang.value, formats=formats, no_model=no_model,
            send_personal_data=send_personal_data, json=json, quiet=quiet,
        ),
    )  # fmt: skip


@app.command("run", help="Reach a goal: a model plans, the plan is checked and run.")
def run_goal(  # noqa: PLR0913, PLR0917 -- each option is a parameter
    goal: Annotated[str, typer.Argument(metavar="GOAL", help="What is to be done.")],
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE...]", help="Files to work with.")
    ] = None,
    model: Model = None,
    base_url: BaseUrl = None,
    max_cost: MaxCost = None,
    max_tokens: MaxTokens = None,
    max_calls: MaxCalls = None,
    max_time: MaxTime = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for files that are made; ./run-<run id> by default.")
    ] = None,
    plan_only: Annotated[
        bool, typer.Option("--plan-only", help="Show the plan and do not run it.")
    ] = False,
    approve_plan: Annotated[
        bool, typer.Option("--approve-plan", help="Show the plan and ask before running it.")
    ] = False,
    plan_format: Annotated[
        PlanFormat, typer.Option(help="How the model writes its plan; auto: as suits the model.")
    ] = PlanFormat.auto,
    send_personal_data: SendPersonalData = False,
    yes: Yes = False,
    allow: Allow = None,
    lang: Language = ReportLanguage.auto,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Run a goal."""
    from planloom.apps.model_options import ModelOptions
    from planloom.apps.run_command import RunChoices, run

    return run(
        goal,
        files or [],
        ModelOptions(model, base_url, max_cost, max_tokens, max_calls, max_time),
        RunChoices(
            out=out, plan_only=plan_only, approve_plan=approve_plan,
            plan_format=plan_format.value, send_personal_data=send_personal_data, yes=yes,
            allow=tuple(allow or ()), lang=lang.value, json=json, quiet=quiet,
        ),
    )  # fmt: skip


@app.command(help="Answer a question with tools; the answer alone is printed.")
def ask(  # noqa: PLR0913, PLR0917 -- each option is a parameter
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know.")],
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE...]", help="Files to work with.")
    ] = None,
    model: Model = None,
    base_url: BaseUrl = None,
    max_cost: MaxCost = None,
    max_tokens: MaxTokens = None,
    max_calls: MaxCalls = None,
    max_time: MaxTime = None,
    max_iterations: Annotated[
        int | None, typer.Option(help="Most turns of the model; 10 by default.")
    ] = None,
    show_work: Annotated[
        bool, typer.Option("--show-work", help="Show thoughts, calls and results on stderr.")
    ] = False,
    send_personal_data: SendPersonalData = False,
    yes: Yes = False,
    allow: Allow = None,
    lang: Language = ReportLanguage.auto,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Answer a question."""
    from planloom.apps.ask_command import AskChoices, run
    from planloom.apps.model_options import ModelOptions

    return run(
        question,
        files or [],
        ModelOptions(model, base_url, max_cost, max_tokens, max_calls, max_time),
        AskChoices(
            max_iterations=max_iterations, show_work=show_work,
            send_personal_data=send_personal_data, yes=yes,
            allow=tuple(allow or ()), lang=lang.value, json=json, quiet=quiet,
        ),
    )  # fmt: skip


@app.command(help="Show what a data file holds and how it was read.")
def profile(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A data file.")], json: Json = False
) -> int:
    """Load and profile a file."""
    from planloom.apps.profile_command import run

    return run(file, json=json, lang=language_of(os.environ))


@app.command(help="List the tools with their effect and state.")
def tools(json: Json = False) -> int:
    """List every tool, also those whose packages are missing."""
    from planloom.apps.tools_command import run

    return run(json=json, lang=language_of(os.environ))


@app.command(help="Show what is installed, what is missing, fonts, and settings.")
def doctor(
    check_model: Annotated[
        bool, typer.Option("--check-model", help="Call the configured model once.")
    ] = False,
    json: Json = False,
) -> int:
    """Check the installation."""
    from planloom.apps.doctor import run

    return run(json=json, lang=language_of(os.environ), check_model=check_model)
