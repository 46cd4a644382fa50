"""A BlurHash (blurha.sh) of a picture: written out here, so that Pillow, which reads the picture, is all it needs."""
import math

from imgflow_plugin import serve

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~"


def base83(value, length):
    return "".join(DIGITS[value // 83 ** (length - place) % 83] for place in range(1, length + 1))


LINEAR = [(v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4) for v in (n / 255 for n in range(256))]


def gamma(value):
    value = min(1.0, max(0.0, value))
    return int((value * 12.92 if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055) * 255 + 0.5)


def root(value):
    return math.copysign(abs(value) ** 0.5, value)


def blurhash(pixels, width, height, across, down):
    rows = [[math.cos(math.pi * j * y / height) for y in range(height)] for j in range(down)]
    columns = [[math.cos(math.pi * i * x / width) for x in range(width)] for i in range(across)]
    factors = []
    for j in range(down):
        for i in range(across):
            red = green = blue = 0.0
            for y in range(height):
                for x in range(width):
                    weight = columns[i][x] * rows[j][y]
                    r, g, b = pixels[y * width + x]
                    red += weight * LINEAR[r]
                    green += weight * LINEAR[g]
                    blue += weight * LINEAR[b]
            scale = (1 if i == j == 0 else 2) / (width * height)
            factors.append((red * scale, green * scale, blue * scale))
    most = max((abs(part) for factor in factors[1:] for part in factor), default=0)
    step = max(0, min(82, int(most * 166 - 0.5)))
    largest = (step + 1) / 166
    text = base83(across - 1 + (down - 1) * 9, 1) + base83(step if len(factors) > 1 else 0, 1)
    red, green, blue = (gamma(part) for part in factors[0])
    text += base83((red << 16) + (green << 8) + blue, 4)
    for factor in factors[1:]:
        parts = [max(0, min(18, int(root(part / largest) * 9 + 9.5))) for part in factor]
        text += base83((parts[0] * 19 + parts[1]) * 19 + parts[2], 2)
    return text


def start(init):
    global Image
    try:
        from PIL import Image
    except ImportError:
        raise SystemExit("meta.blurhash needs Pillow: apt install python3-pil, or pip install pillow")


def work(item, init):
    with Image.open(item["in"]["path"]) as picture:
        # A placeholder has no details: a small copy gives the same, a hundred times faster.
        picture.draft("RGB", (64, 64))
        small = picture.convert("RGB")
        small.thumbnail((48, 48))
        data = small.tobytes()
        pixels = [tuple(data[place:place + 3]) for place in range(0, len(data), 3)]
    config = init["config"]
    return {"set": {"blurhash": blurhash(pixels, *small.size, config.get("x", 4), config.get("y", 3))}}


serve(work, start)
