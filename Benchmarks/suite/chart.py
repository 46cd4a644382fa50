"""Line charts as SVG that stands on light and on dark ground."""

import math

INK, LINE, GRID = "#7a7a85", "#2f81f7", "#7a7a8540"


def ticks(most):
    step = 10 ** math.floor(math.log10(most)) if most > 0 else 1
    if most / step < 2:
        step /= 5
    elif most / step < 5:
        step /= 2
    count = int(most / step + 1e-9)
    return [step * number for number in range(count + 1)]


def short(value):
    if value >= 1_000_000:
        return f"{value / 1_000_000:g} M"
    if value >= 1000:
        return f"{value / 1000:g} k"
    return f"{value:g}"


def lines(title, points, across, up, dots=True, width=480, height=240):
    """A chart of points (x, y) with a line through them."""
    left, right, top, bottom = 56, 16, 34, 40
    most_x = max(x for x, _ in points) or 1
    most_y = max(y for _, y in points) * 1.08 or 1

    def at(x, y):
        return (left + (width - left - right) * x / most_x, height - bottom - (height - top - bottom) * y / most_y)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="system-ui, sans-serif" font-size="11" fill="{INK}" role="img" aria-label="{title}">',
        f'<text x="{left}" y="18" font-size="13" font-weight="600">{title}</text>']
    for value in ticks(most_y):
        x, y = at(0, value)
        parts.append(f'<path d="M{x:.1f} {y:.1f}H{width - right}" stroke="{GRID}"/>')
        parts.append(f'<text x="{x - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{short(round(value, 6))}</text>')
    marks = [x for x, _ in points] if dots and len(points) <= 6 else ticks(most_x)
    last = -100
    for value in marks:
        x, y = at(value, 0)
        if x - last < 28:
            continue
        last = x
        parts.append(f'<text x="{x:.1f}" y="{y + 16:.1f}" text-anchor="middle">{short(value)}</text>')
    parts.append(f'<text x="{(left + width - right) / 2}" y="{height - 6}" text-anchor="middle">{across}</text>')
    parts.append(f'<text transform="translate(12 {(top + height - bottom) / 2}) rotate(-90)" text-anchor="middle">{up}</text>')
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in (at(*point) for point in points))
    parts.append(f'<path d="M{path}" fill="none" stroke="{LINE}" stroke-width="2" stroke-linejoin="round"/>')
    if dots:
        for point in points:
            x, y = at(*point)
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{LINE}"/>')
    parts.append("</svg>\n")
    return "\n".join(parts)
