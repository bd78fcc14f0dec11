from pathlib import Path

import numpy as np
import pytest
from matplotlib.ft2font import FT2Font

from planloom.analysis.charts import glyphs
from planloom.analysis.charts.fonts import INSTALL_LINE, FontChoice, cjk_font, cjk_fonts
from planloom.analysis.charts.lettering import typeface_for
from planloom.errors import ToolError


def packaged_font() -> FontChoice:
    return next(font for font in cjk_fonts([]) if font.origin == "pylopdf_fonts_zh_cn")


def test_font_of_the_system_comes_before_that_of_a_package(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "MSYH.ttc").write_bytes(b"ttcf and more")
    first = next(cjk_fonts([tmp_path]))
    assert first == FontChoice("Microsoft YaHei", str(tmp_path / "deep" / "MSYH.ttc"), "system")


def test_file_that_only_has_the_name_of_a_font_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "msyh.ttc").write_bytes(b"<html>")
    (tmp_path / "simhei.ttf").write_bytes(b"\x00\x01\x00\x00 and more")
    assert next(cjk_fonts([tmp_path])).family == "SimHei"


def test_base_install_always_has_a_font() -> None:
    font = cjk_font()
    assert font is not None
    assert Path(font.path).is_file()


def test_packaged_font_draws_all_common_chinese_characters() -> None:
    level_1 = [bytes((row, cell)) for row in range(0xB0, 0xD8) for cell in range(0xA1, 0xFF)]
    common = "".join(pair.decode("gb2312", errors="ignore") for pair in level_1)
    assert len(common) == 3755
    signs = "￥¥€，。（）【】、％—…·"
    assert glyphs.missing_glyphs(common + signs, [packaged_font().path]) == set()


def test_chinese_glyphs_are_no_boxes() -> None:
    font = FT2Font(packaged_font().path)
    box = outline(font, 0)  # glyph 0 is .notdef
    for letter in "销售额亿":
        shown = outline(font, font.get_char_index(ord(letter)))
        assert len(shown) > len(box)


def outline(font: FT2Font, glyph: int) -> np.ndarray:
    font.set_size(24, 72)
    font.load_glyph(glyph)
    vertices, _ = font.get_path()
    return np.asarray(vertices)


def test_chinese_without_a_font_is_refused_with_the_line_that_installs_one() -> None:
    with pytest.raises(ToolError, match="'销售额'") as refusal:
        typeface_for("Sales 销售额", chinese=[])
    assert INSTALL_LINE in str(refusal.value)
    assert INSTALL_LINE in refusal.value.text("zh")


def test_english_needs_no_chinese_font() -> None:
    assert typeface_for("Sales in €, Ελληνικά", chinese=[]).families == ("DejaVu Sans",)


def test_broken_font_file_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "msyh.ttc").write_bytes(b"ttcf and nothing more")
    broken = next(cjk_fonts([tmp_path]))
    face = typeface_for("销售额", chinese=[broken, packaged_font()])
    assert packaged_font().path in face.paths
    assert broken.path not in face.paths


def test_font_with_poor_latin_letters_comes_second(tmp_path: Path) -> None:
    plain = packaged_font()
    named = FontChoice("SimHei", plain.path, "system")
    assert typeface_for("销", chinese=[named]).paths[1] == plain.path
    assert typeface_for("销", chinese=[plain]).paths[0] == plain.path


def test_text_is_set_in_the_font_that_has_all_of_it() -> None:
    face = typeface_for("销售额 Ελληνικά", chinese=[packaged_font()])
    assert face.families_for("Sales")[0] == face.families[0]
    assert face.families_for("Ελληνικά")[0] == "DejaVu Sans"


def test_missing_glyphs_names_what_no_font_has() -> None:
    dejavu = typeface_for("a", chinese=[]).paths
    assert glyphs.missing_glyphs("a 销b\t售", dejavu) == {"销", "售"}
    assert glyphs.missing_glyphs("a 销b\t售", [*dejavu, packaged_font().path]) == set()
