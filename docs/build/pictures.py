"""Draw small pictures for documents: python -m docs.build STUDY --pictures NAME ...

They are drawn from stored results into `outputs/readme/`. Each has its command, its number of runs and the digest of
the drawn values as texts of the PNG.
"""

import hashlib
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from pomrl.configuration.studies import Study
from pomrl.drawing import figures_of_study, picture_files
from pomrl.drawing.figures_of_study import Selection
from pomrl.drawing.series import Drawing
from pomrl.outputs import outputs
from pomrl.store.files import write


def renew(study: Study, name: str) -> Path:
    """Draw and write a figure, and return its path."""
    selection = Selection(study, [name])
    sweeps = figures_of_study.load_sweeps(selection, name)
    drawing, sidecar = figures_of_study.draw_version(selection, name, sweeps)
    is_read = len(study.config.variants) > 1 and not any(name.startswith("computed") for name in sweeps)
    for text in drawing.figure.texts if is_read else ():  # what the authors computed says so in its title
        if (heading := text.get_text()) and heading == drawing.figure.get_suptitle():
            text.set_text(f"As {sidecar.variant}: {heading}")
    runs = min((source.runs for sources in sidecar.sweeps.values() for source in sources), default=0)
    command = f"python -m docs.build {study.argument} --pictures {name}"
    values = hashlib.sha256(picture_files.values(drawing)).hexdigest()
    path = outputs() / "readme" / f"{figures_of_study.file_stem(study, name)}.png"
    write(path, small(drawing, {"command": command, "runs": str(runs), "values": values}))
    return path


def small(drawing: Drawing, texts: Mapping[str, str]) -> bytes:
    """Return a PNG of 128 colours: half the bytes, without visible differences."""
    picture = Image.open(BytesIO(picture_files.picture(drawing.figure, "png", dpi=120))).convert("RGB").quantize(128)
    content, info = BytesIO(), PngInfo()
    for name, text in texts.items():
        info.add_text(name, text)
    picture.save(content, "PNG", optimize=True, pnginfo=info)
    return content.getvalue()


def picture_texts(path: Path) -> Mapping[str, str]:
    """Return the texts of a small picture by name."""
    with Image.open(path) as picture:
        return picture.info
