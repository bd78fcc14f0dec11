from itertools import combinations

import numpy as np
import pytest

from planloom.analysis.charts.style import (
    ACCENT,
    NEGATIVE,
    REST,
    SERIES,
    SOFT,
    contrast_with_white,
    is_rest,
    text_color,
)

# Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB.
SIGHTS = {
    "usual": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


@pytest.mark.parametrize("sight", SIGHTS)
def test_series_colors_stay_apart_for_every_sight(sight: str) -> None:
    seen = [_lab(np.array(SIGHTS[sight]) @ _linear(color)) for color in SERIES]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 15


@pytest.mark.parametrize("sight", SIGHTS)
def test_gains_and_losses_stay_apart_for_every_sight(sight: str) -> None:
    gain, loss = (_lab(np.array(SIGHTS[sight]) @ _linear(color)) for color in (ACCENT, NEGATIVE))
    assert np.linalg.norm(gain - loss) > 30


@pytest.mark.parametrize("color", [*SERIES, REST, SOFT, NEGATIVE])
def test_text_in_any_color_can_be_read(color: str) -> None:
    readable = text_color(color)
    parts = [int(readable[i : i + 2], 16) for i in (1, 3, 5)]
    assert contrast_with_white(*parts) >= 4.5


@pytest.mark.parametrize(
    ("name", "rest"),
    [("Other", True), ("Other (12 categories)", True), ("其他（12 类）", True), ("Mother", False),
     ("Other income", False), ("其他应收款", False)],
)  # fmt: skip
def test_rest_is_told_from_names_that_begin_like_it(name: str, rest: bool) -> None:
    assert is_rest(name) is rest


def _linear(color: str) -> np.ndarray:
    parts = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def _lab(linear: np.ndarray) -> np.ndarray:
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(to_xyz) @ np.clip(linear, 0, 1) / np.array([0.9505, 1, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])
