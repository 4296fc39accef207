"""A bar chart as SVG: the lines of some cases, each bar's length its throughput relative to the case's fastest."""

import html

from comparison.report import median

WIDTH, LABEL, BAR, GAP = 860, 250, 18, 6
COLOURS = {"embd": "#2f6fb4", "floor": "#8a8a8a", "socket": "#b0b0b0", "torch": "#d98032", "redis": "#b5453c"}


def chart(cases, results, figure="megabytes_per_second", unit="MB/s"):
    """SVG of the cases that were measured, one group of bars each."""
    shapes, y = [], 10
    for case in cases:
        figures = results.get(case.name)
        if not figures:
            continue
        shapes.append(f'<text x="10" y="{y + 14}" font-weight="bold">{html.escape(case.title)}, {unit}</text>')
        y += 24
        values = [(line, median(figures[line.name], figure)) for line in case.lines if line.name in figures]
        most = max(value for _, value in values)
        for line, value in values:
            length = max(1.0, value / most * (WIDTH - LABEL - 90))
            text = f"{value:,.0f}" if value >= 10 else f"{value:.1f}"
            shapes += [
                f'<text x="{LABEL - 8}" y="{y + 13}" text-anchor="end">{html.escape(line.name)}</text>',
                f'<rect x="{LABEL}" y="{y}" width="{length:.1f}" height="{BAR}" fill="{COLOURS[line.server]}"/>',
                f'<text x="{LABEL + length + 6:.1f}" y="{y + 13}">{text}</text>',
            ]
            y += BAR + GAP
        y += 14
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" font-family="sans-serif" font-size="12">'
    background = f'<rect width="{WIDTH}" height="{y}" fill="#ffffff"/>'
    return "\n".join([head, background, *shapes, "</svg>"]) + "\n"
