"""The images of a IIIF Presentation manifest or collection, version 2 or 3, one canvas after the other."""
import json
import os
import urllib.parse
import urllib.request

import imgflow_source


def listed(value):
    """A property as a list, whether it stands alone or not."""
    return value if isinstance(value, list) else [] if value is None else [value]


def label(value):
    """A label as a plain text: versions 2 and 3 write it in several ways."""
    if isinstance(value, dict):
        if "@value" in value:
            return str(value["@value"])
        value = [text for texts in value.values() for text in listed(texts)]
    return " ".join(label(part) if isinstance(part, dict) else str(part) for part in listed(value))


def identity(thing):
    return thing.get("id") or thing.get("@id") or ""


def kind(thing):
    return str(thing.get("type") or thing.get("@type") or "").split(":")[-1]


class Reader:
    def __init__(self, config):
        self.config = config
        self.seen = set()

    def load(self, address):
        if "://" not in address:
            with open(address, "rb") as file:
                return json.load(file)
        request = urllib.request.Request(address, headers={"Accept": "application/ld+json, application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def items(self, document, address):
        """The items of a manifest or a collection, in their order; manifests are loaded as they are come to."""
        if identity(document) in self.seen:
            return
        self.seen.add(identity(document))
        if kind(document) == "Collection":
            parts = document.get("items") or [
                part for name in ("members", "collections", "manifests") for part in listed(document.get(name))]
            for part in parts:
                if kind(part) not in ("Manifest", "Collection"):
                    continue
                whole = "sequences" in part or (kind(part) == "Manifest" and "items" in part)
                target = identity(part)
                if "://" not in target:
                    web = "://" in address
                    target = urllib.parse.urljoin(address, target) if web else os.path.join(os.path.dirname(address), target)
                yield from self.items(part if whole else self.load(target), target)
            return
        if "sequences" in document:
            canvases = [c for sequence in document["sequences"] for c in listed(sequence.get("canvases"))]
        else:
            canvases = listed(document.get("items"))
        title = label(document.get("label"))
        number = 0
        for page, canvas in enumerate(canvases, 1):
            for resource in self.resources(canvas):
                url = self.image(resource)
                if not url:
                    continue
                number += 1
                row = {
                    "manifest": identity(document), "title": title, "label": label(canvas.get("label")), "page": page,
                    "width": resource.get("width") or canvas.get("width"),
                    "height": resource.get("height") or canvas.get("height"),
                }
                stem = identity(document).rstrip("/").split("/")
                stem = stem[-2] if stem[-1].startswith("manifest") and len(stem) > 1 else stem[-1]
                yield {"url": url, "key": f"{stem or 'manifest'}-{number:05}", "row": row}

    def resources(self, canvas):
        if "images" in canvas:
            for annotation in listed(canvas["images"]):
                resource = annotation.get("resource") or {}
                yield resource.get("default", resource)
            return
        for page in listed(canvas.get("items")):
            for annotation in listed(page.get("items")):
                body = annotation.get("body") or {}
                for one in listed(body):
                    yield listed(one.get("items"))[0] if kind(one) == "Choice" and one.get("items") else one

    def image(self, resource):
        """The address of an image: by its service, in the wanted size, else its own."""
        size = self.config.get("size") or "max"
        for service in listed(resource.get("service")):
            base = identity(service).rstrip("/")
            if "/image" in str(service.get("profile", "")) + str(service.get("@context", "")) or "Image" in kind(service):
                old = "image/2" in str(service.get("@context", "")) or kind(service) == "ImageService2"
                wanted = "full" if size == "max" and old else size
                return self.absolute(f"{base}/full/{wanted}/0/default.jpg")
        if kind(resource) in ("Image", "") and identity(resource):
            return self.absolute(identity(resource))
        return None

    def absolute(self, url):
        return url if "://" in url else urllib.parse.urljoin(self.config.get("base") or "", url)


def items(config):
    reader = Reader(config)
    found = reader.items(reader.load(config["url"]), config["url"])
    limit = config.get("limit")
    for number, item in enumerate(found):
        if limit and number >= limit:
            return
        yield item


imgflow_source.serve(items)
