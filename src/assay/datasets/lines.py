"""Read files as bytes and as lines, in chunks, decompressed, within limits that errors name."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

from assay.datasets.batch import BATCH_BYTES, BATCH_ROWS
from assay.errors import Place, Problem, SpecError

CHUNK_BYTES = 2**20
LINE_BYTES = 64 * 2**20
# a file is taken for a gzip bomb only if it passes both: logs of one repeated line do reach high ratios
UNPACKED_BYTES = 2**30
UNPACKED_RATIO = 100


def is_packed(path: Path) -> bool:
    """Return whether the file is a gzip archive, by its name."""
    return path.suffix.lower() == ".gz"


def chunks(path: Path) -> Iterator[bytes]:
    """The bytes of a file in pieces of one megabyte, unpacked if it ends in .gz."""
    try:
        if is_packed(path):
            yield from _unpacked(path)
        else:
            with path.open("rb") as file:
                while chunk := file.read(CHUNK_BYTES):
                    yield chunk
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise refused(path, f"the gzip archive is damaged: {error}") from error
    except OSError as error:
        raise refused(path, f"cannot be read: {error.strerror or error}") from error


def _unpacked(path: Path) -> Iterator[bytes]:
    limit = max(UNPACKED_BYTES, UNPACKED_RATIO * path.stat().st_size)
    seen = 0
    with gzip.open(path, "rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            seen += len(chunk)
            if seen > limit:
                raise refused(
                    path,
                    f"unpacks to more than {UNPACKED_BYTES // 2**30} GB and more than {UNPACKED_RATIO} times "
                    "its size, which is the limit; unpack it yourself if it is meant to be so large",
                )
            yield chunk


def line_batches(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Read lines of a UTF-8 file, some thousands at a time, each batch with its first line number (from 1)."""
    first, held, pending = 1, 0, list[str]()
    for block in _blocks(path):
        pending += block.split("\n")
        held += len(block)
        while len(pending) >= BATCH_ROWS or (held >= BATCH_BYTES and pending):
            lines, pending = pending[:BATCH_ROWS], pending[BATCH_ROWS:]
            yield first, lines
            first, held = first + len(lines), 0
    if pending:
        yield first, pending


def _blocks(path: Path) -> Iterator[str]:
    """Text between line ends, about a chunk long; the line end after each block is dropped."""
    number, parts, held = 1, list[bytes](), 0
    for chunk in chunks(path):
        cut = chunk.rfind(b"\n")
        if cut < 0:
            parts.append(chunk)
            held += len(chunk)
            if held > LINE_BYTES:
                raise refused(path, f"longer than {LINE_BYTES // 2**20} MB, the limit of one line", number)
            continue
        block = b"".join([*parts, chunk[:cut]])
        parts, held = [chunk[cut + 1 :]], len(chunk) - cut - 1
        yield _text(block, path, number)
        number += block.count(b"\n") + 1
    last = b"".join(parts)
    if last:
        yield _text(last, path, number)


def _text(block: bytes, path: Path, number: int) -> str:
    # only the first block of a file may begin with a byte order mark
    if number == 1:
        block = block.removeprefix(codecs.BOM_UTF8)
    try:
        return block.decode()
    except UnicodeDecodeError as error:
        line = number + block.count(b"\n", 0, error.start)
        column = error.start - block.rfind(b"\n", 0, error.start)
        byte = f"byte 0x{block[error.start]:02x}"
        raise refused(path, f"not valid UTF-8 ({byte}); expected UTF-8 text", line, column) from error


def refused(path: Path, message: str, line: int = 1, column: int = 1) -> SpecError:
    """The error of a data file, at its line."""
    return SpecError(Problem(message=message, place=Place(str(path), line, column)))
