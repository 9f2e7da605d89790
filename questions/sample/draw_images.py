"""Draws the pictures of the sample exam: ``python -m questions.sample.draw_images``."""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

FOLDER = Path(__file__).parent / "gradeapp-sample" / "images"
SCALE = 2  # drawn at twice the size and reduced, for smooth lines
INK, BLUE, RED = "#1d2129", "#2451a6", "#b3402f"

TEMPERATURES = (9, 10, 12, 14, 18, 22, 25, 25, 22, 18, 13, 10)
RAINFALL = (95, 80, 70, 55, 35, 12, 4, 6, 30, 75, 100, 110)
# Per cent of the whole population in each group of five years, from 0-4 upwards.
MEN = (1.8, 2.0, 2.2, 2.4, 2.6, 2.8, 3.0, 3.3, 3.6, 4.0, 4.3, 4.1, 3.8, 3.4, 2.7, 2.0, 1.1)
WOMEN = (1.7, 1.9, 2.1, 2.3, 2.5, 2.7, 3.0, 3.3, 3.6, 4.0, 4.3, 4.2, 4.0, 3.7, 3.2, 2.6, 1.8)

Point = tuple[float, float]


class Sheet:
    """A white sheet with coordinates in pixels of the finished picture."""

    def __init__(self, width: int, height: int) -> None:
        self.size = (width, height)
        self._image = Image.new("RGB", (width * SCALE, height * SCALE), "white")
        self._draw = ImageDraw.Draw(self._image)

    def line(self, *points: Point, colour: str = INK, width: float = 2) -> None:
        scaled = [(x * SCALE, y * SCALE) for x, y in points]
        self._draw.line(scaled, fill=colour, width=round(width * SCALE), joint="curve")

    def box(self, x: float, y: float, w: float, h: float, fill: str, edge: str = INK) -> None:
        corners = (x * SCALE, y * SCALE, (x + w) * SCALE, (y + h) * SCALE)
        self._draw.rectangle(corners, fill=fill, outline=edge, width=2 * SCALE)

    def disc(self, x: float, y: float, r: float, fill: str = "white", edge: str = INK) -> None:
        corners = ((x - r) * SCALE, (y - r) * SCALE, (x + r) * SCALE, (y + r) * SCALE)
        self._draw.ellipse(corners, fill=fill, outline=edge, width=2 * SCALE)

    def text(
        self, x: float, y: float, text: str, colour: str = INK, size: int = 17, anchor: str = "mm"
    ) -> None:
        font = ImageFont.load_default(size * SCALE)
        self._draw.text((x * SCALE, y * SCALE), text, fill=colour, font=font, anchor=anchor)

    def save(self, name: str) -> None:
        small = self._image.resize(self.size, Image.Resampling.LANCZOS)
        palette = small.convert("P", palette=Image.Palette.ADAPTIVE, colors=256)
        palette.save(FOLDER / name, optimize=True)


def draw_circuit() -> None:
    """A source and R1 in series with R2 parallel to R3 and a switch; ammeter, voltmeter."""
    sheet = Sheet(620, 330)
    top, bottom, volt, source, left, right = 60.0, 270.0, 60.0, 160.0, 400.0, 540.0
    sheet.line((volt, top), (right, top), (right, bottom), (volt, bottom), (volt, top))
    sheet.line((source, top), (source, bottom))
    sheet.line((left, top), (left, bottom))
    for x, y in ((source, top), (source, bottom), (left, top), (left, bottom)):
        sheet.disc(x, y, 4, fill=INK)
    sheet.disc(volt, 165, 20)
    sheet.text(volt, 165, "V")
    sheet.disc(230, top, 20)
    sheet.text(230, top, "A")
    sheet.box(290, top - 11, 62, 22, "white")
    sheet.text(321, top - 28, "R1")
    _draw_source(sheet, source)
    sheet.box(left - 11, 130, 22, 70, "white")
    sheet.text(left - 34, 165, "R2")
    sheet.box(right - 11, 170, 22, 70, "white")
    sheet.text(right + 34, 205, "R3")
    _draw_switch(sheet, right)
    sheet.save("circuit.png")


def _draw_source(sheet: Sheet, x: float) -> None:
    sheet.box(x - 4, 159, 8, 12, "white", edge="white")
    sheet.line((x - 22, 158), (x + 22, 158))
    sheet.line((x - 11, 172), (x + 11, 172), width=5)
    sheet.text(x + 52, 165, "E, r")


def _draw_switch(sheet: Sheet, x: float) -> None:
    sheet.box(x - 4, 92, 8, 40, "white", edge="white")
    sheet.line((x, 134), (x + 22, 96))
    sheet.disc(x, 90, 4)
    sheet.disc(x, 134, 4)
    sheet.text(x + 40, 114, "S")


def draw_climate() -> None:
    """Monthly rainfall as bars (right scale) and temperature as a line (left scale)."""
    sheet = Sheet(640, 400)
    left, right, top, bottom = 70, 570, 50, 340
    step = (right - left) / 12
    for tick in range(7):
        y = bottom - tick * (bottom - top) / 6
        sheet.line((left, y), (right, y), colour="#e6e3dc", width=1)
        sheet.text(left - 12, y, str(tick * 5), colour=RED, anchor="rm")
        sheet.text(right + 12, y, str(tick * 20), colour=BLUE, anchor="lm")
    centres = [left + (month + 0.5) * step for month in range(12)]
    for month, (x, rain) in enumerate(zip(centres, RAINFALL, strict=True), start=1):
        height = rain / 120 * (bottom - top)
        sheet.box(x - step * 0.3, bottom - height, step * 0.6, height, "#b9c9ea", edge=BLUE)
        sheet.text(x, bottom + 18, str(month))
    heights = [bottom - degrees / 30 * (bottom - top) for degrees in TEMPERATURES]
    curve = list(zip(centres, heights, strict=True))
    sheet.line(*curve, colour=RED, width=2.5)
    for x, y in curve:
        sheet.disc(x, y, 4, fill=RED, edge=RED)
    sheet.line((left, top), (left, bottom), (right, bottom), (right, top))
    sheet.text(left, 26, "T / °C", colour=RED)
    sheet.text(right, 26, "P / mm", colour=BLUE)
    sheet.text((left + right) / 2, bottom + 42, "month", colour=INK)
    sheet.save("climate.png")


def draw_pyramid() -> None:
    """Groups of five years from 0-4 at the foot to 80+ at the top, men left, women right."""
    sheet = Sheet(640, 470)
    middle, bottom, row, unit = 320, 410, 22, 46
    for percent in range(1, 6):
        for x in (middle - 34 - percent * unit, middle + 34 + percent * unit):
            sheet.line((x, 36), (x, bottom), colour="#e6e3dc", width=1)
            sheet.text(x, bottom + 16, str(percent), size=15)
    for group, (men, women) in enumerate(zip(MEN, WOMEN, strict=True)):
        y = bottom - (group + 1) * row
        sheet.box(middle - 34 - men * unit, y + 2, men * unit, row - 4, "#b9c9ea", edge=BLUE)
        sheet.box(middle + 34, y + 2, women * unit, row - 4, "#eec4bd", edge=RED)
        label = f"{group * 5}-{group * 5 + 4}" if group < len(MEN) - 1 else "80+"
        sheet.text(middle, y + row / 2, label, size=13)
    sheet.text(middle - 150, 18, "male", colour=BLUE)
    sheet.text(middle + 150, 18, "female", colour=RED)
    sheet.text(middle, 18, "age", size=15)
    sheet.text(middle, bottom + 42, "% of population", size=15)
    sheet.save("pyramid.png")


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    draw_circuit()
    draw_climate()
    draw_pyramid()
