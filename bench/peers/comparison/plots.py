"""Plots as SVG, written by hand: lines on logarithmic axes, bars, and distributions. They follow the reader's light or dark scheme."""

import math
from html import escape

WIDTH, HEIGHT = 880, 460
LEFT, RIGHT, TOP, BOTTOM = 76, 190, 56, 56
PLOT_RIGHT, PLOT_BOTTOM = WIDTH - RIGHT, HEIGHT - BOTTOM

# Mid tones, which stand out from white and from black alike.
COLOURS = {
    "raw": "#8a8a8a",
    "enet": "#b8860b",
    "quinn": "#c2549d",
    "renet": "#d2691e",
    "replicon": "#2e9e5b",
    "lightyear": "#7a68d8",
    "naia": "#cc3b3b",
    "netloom": "#1f86e0",
}
DASHES = {"exact": "", "standard": "", "secure": "6 4", "resend100": "6 4"}

STYLE = """
  svg { background: #ffffff; font: 13px system-ui, sans-serif; }
  text { fill: #24292f; } .faint { fill: #57606a; } .title { font-size: 16px; font-weight: 600; }
  .grid { stroke: #d0d7de; stroke-width: 1; } .ours { font-weight: 600; }
  @media (prefers-color-scheme: dark) {
    svg { background: #0d1117; } text { fill: #e6edf3; } .faint { fill: #9da7b1; } .grid { stroke: #30363d; }
  }
"""


def colour(contender):
    return COLOURS.get(contender.peer, "#888888")


def dash(contender):
    """Two settings of one library have the same colour; exact ones of Netloom are dotted, since others have no other setting."""
    if contender.is_ours and contender.setting == "exact":
        return "2 3"
    return DASHES.get(contender.setting, "") if contender.peer != "raw" else ""


class Scale:
    """From values to places, logarithmic or linear."""

    def __init__(self, least, most, start, end, is_logarithmic):
        self.map = math.log if is_logarithmic else float
        self.least, self.most = self.map(least), self.map(most)
        self.start, self.end = start, end

    def __call__(self, value):
        span = self.most - self.least
        share = (self.map(value) - self.least) / span if span else 0.5
        return self.start + share * (self.end - self.start)


def decades(least, most):
    """1, 2 and 5 of each power of ten, from just below the least to just above the most."""
    marks = [digit * 10.0**power for power in range(-3, 9) for digit in (1, 2, 5)]
    below = max((mark for mark in marks if mark <= least), default=marks[0])
    above = min((mark for mark in marks if mark >= most), default=marks[-1])
    return [mark for mark in marks if below <= mark <= above]


def spread(places, gap):
    """Labels at these heights, moved apart until none covers another, in the same order."""
    moved = []
    for place in places:
        moved.append(max(place, moved[-1] + gap) if moved else place)
    overflow = moved[-1] - PLOT_BOTTOM if moved else 0
    if overflow > 0:
        moved = [place - overflow for place in moved]
    return moved


def text(x, y, content, anchor="start", kind=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{escape(content)}</text>'


def number(value):
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def frame(title, x_title, y_title, body):
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title><style>{STYLE}</style>",
        text(LEFT - 56, 24, title, kind="title"),
        text(LEFT - 56, 44, y_title, kind="faint"),
        text((LEFT + PLOT_RIGHT) / 2, HEIGHT - 14, x_title, "middle", "faint"),
        *body,
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def horizontal_grid(marks, y):
    for mark in marks:
        yield f'<line class="grid" x1="{LEFT}" x2="{PLOT_RIGHT}" y1="{y(mark):.1f}" y2="{y(mark):.1f}"/>'
        yield text(LEFT - 8, y(mark) + 4, number(mark), "end", "faint")


def end_labels(series):
    """Names at the right ends of lines: (contender, height)."""
    ordered = sorted(series, key=lambda entry: entry[1])
    for (contender, place), moved in zip(ordered, spread([place for _, place in ordered], 17)):
        kind = "ours" if contender.is_ours else ""
        yield f'<line x1="{PLOT_RIGHT + 4}" y1="{place:.1f}" x2="{PLOT_RIGHT + 18}" y2="{moved:.1f}" stroke="{colour(contender)}"/>'
        yield text(PLOT_RIGHT + 22, moved + 4, contender.label, kind=kind)


def polyline(contender, points):
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    width = 3 if contender.is_ours else 1.8
    style = f'stroke="{colour(contender)}" stroke-width="{width}" stroke-dasharray="{dash(contender)}"'
    return f'<polyline points="{places}" fill="none" {style} stroke-linejoin="round"/>'


def lines(title, x_title, y_title, series):
    """Lines on two logarithmic axes. `series` has pairs of a contender and its points (x, y)."""
    series = [(contender, points) for contender, points in series if points]
    if not series:
        return None
    xs = sorted({x for _, points in series for x, _ in points})
    ys = [y for _, points in series for _, y in points]
    marks = decades(min(ys), max(ys))
    x = Scale(xs[0], xs[-1], LEFT + 12, PLOT_RIGHT - 4, True)
    y = Scale(marks[0], marks[-1], PLOT_BOTTOM, TOP, True)
    body = [*horizontal_grid(marks, y), *(text(x(mark), PLOT_BOTTOM + 20, number(mark), "middle", "faint") for mark in xs)]
    for contender, points in series:
        places = [(x(at), y(value)) for at, value in points]
        body.append(polyline(contender, places))
        body += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3.5" fill="{colour(contender)}"/>' for a, b in places]
    body += end_labels([(contender, y(points[-1][1])) for contender, points in series])
    return frame(title, x_title, y_title, body)


def bars(title, x_title, rows):
    """Horizontal bars from nothing. `rows` has pairs of a contender and its value."""
    if not rows:
        return None
    x = Scale(0, max(value for _, value in rows), LEFT + 84, PLOT_RIGHT + 90, False)
    height = (PLOT_BOTTOM - TOP) / len(rows)
    body = []
    for place, (contender, value) in enumerate(rows):
        top = TOP + place * height
        middle = top + height / 2 + 4
        kind = "ours" if contender.is_ours else ""
        body.append(text(x(0) - 8, middle, contender.label, "end", kind))
        size = f'width="{max(1, x(value) - x(0)):.1f}" height="{height * 0.7:.1f}"'
        body.append(f'<rect x="{x(0):.1f}" y="{top + height * 0.15:.1f}" {size} rx="2" fill="{colour(contender)}"/>')
        body.append(text(x(value) + 8, middle, number(value), kind=kind))
    return frame(title, x_title, "", body)


def distribution(title, x_title, y_title, series, floor):
    """How much of everything is below a value: the share against the value, logarithmic. `series` has pairs of a contender and
    evenly spaced quantiles."""
    series = [(contender, values) for contender, values in series if values]
    if not series:
        return None
    most = max(values[-1] for _, values in series)
    marks = decades(floor, most)
    x = Scale(marks[0], marks[-1], LEFT + 12, PLOT_RIGHT - 4, True)
    y = Scale(0, 100, PLOT_BOTTOM, TOP, False)
    body = [*horizontal_grid((0, 25, 50, 75, 90, 100), y)]
    body += [text(x(mark), PLOT_BOTTOM + 20, number(mark), "middle", "faint") for mark in marks]
    body.append(f'<line class="grid" x1="{x(floor):.1f}" x2="{x(floor):.1f}" y1="{TOP}" y2="{PLOT_BOTTOM}" stroke-dasharray="3 3"/>')
    for contender, values in series:
        steps = [(x(max(value, marks[0])), y(100 * (place + 1) / len(values))) for place, value in enumerate(values)]
        body.append(polyline(contender, steps))
    # All lines end at 100 %: the names stand in the order of the slowest hundredth.
    ordered = sorted(series, key=lambda entry: entry[1][int(len(entry[1]) * 0.98)])
    for place, (contender, _) in enumerate(ordered):
        top = TOP + 12 + 22 * place
        kind = "ours" if contender.is_ours else ""
        body.append(polyline(contender, [(PLOT_RIGHT + 10, top), (PLOT_RIGHT + 36, top)]))
        body.append(text(PLOT_RIGHT + 42, top + 4, contender.label, kind=kind))
    return frame(title, x_title, y_title, body)
