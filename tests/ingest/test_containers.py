"""Archives as they come, honest, cut and hostile."""

import bz2
import gzip
import io
import lzma
import struct
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from ingest.containers import ArchiveLimits, ContainerError, of_folder, recognise, unpacked
from tests.ingest.packing import tar_of, zip_of

LIMITS = ArchiveLimits(files=100, member_bytes=1_000_000, unpacked_bytes=5_000_000, ratio=200)
FILES = {"a/t01.txt": b"one\n", "a/t02.txt": b"two\n" * 300, "b/meta.json": b"{}"}
COMPRESSED = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor().compress,
}


def entry(name, type_, **said):
    header = tarfile.TarInfo(name)
    header.type = type_
    for key, value in said.items():
        setattr(header, key, value)
    return header


def read(data, limits=LIMITS, name=""):
    """The files of an archive, why others are refused, its warnings, and its kind."""
    with unpacked(io.BytesIO(data), limits, name=name) as container:
        return (
            {member.path: member.read() for member in container.members},
            {member.path: member.reason for member in container.refused},
            container.warnings,
            container.kind,
        )


# --- honest archives ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("format_", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_a_tar_archive_of_each_kind_is_read(format_):
    assert read(tar_of(FILES, format_)) == (FILES, {}, [], "tar")


@pytest.mark.parametrize("kind", COMPRESSED)
def test_a_compressed_tar_archive_is_read_whatever_its_name(kind):
    assert read(COMPRESSED[kind](tar_of(FILES)), name="results") == (FILES, {}, [], f"tar.{kind}")


@pytest.mark.parametrize("kind", COMPRESSED)
def test_a_single_compressed_file_has_the_name_of_its_archive(kind):
    data = COMPRESSED[kind](b"Threads: 4\n" * 50_000)
    assert read(data, name=f"t04.txt.{kind}") == ({"t04.txt": b"Threads: 4\n" * 50_000}, {}, [], kind)


@pytest.mark.parametrize("kind", COMPRESSED)
def test_several_compressed_streams_one_after_another_are_one_file(kind):
    data = COMPRESSED[kind](b"one\n") + COMPRESSED[kind](b"two\n")
    assert read(data, name="x")[0] == {"x": b"one\ntwo\n"}


def test_a_zip_archive_is_read():
    assert read(zip_of(FILES)) == (FILES, {}, [], "zip")


@pytest.mark.parametrize("format_", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_names_and_names_in_other_letters_are_read(format_):
    files = {f"{'folder/' * 30}t04.txt": b"long\n", "Größe/t04.txt": b"umlaut\n"}
    assert read(tar_of(files, format_))[0] == files
    assert read(zip_of(files))[0] == files


def test_folders_and_a_leading_dot_are_no_part_of_names():
    files = {"./": entry("./", tarfile.DIRTYPE), "./a/t01.txt": b"one\n"}
    assert read(tar_of(files)) == ({"a/t01.txt": b"one\n"}, {}, [], "tar")


def test_members_are_read_in_any_order_and_in_parts():
    with unpacked(io.BytesIO(tar_of(FILES)), LIMITS) as container:
        one, two, _ = [member.open() for member in container.members]
        assert [two.read(4), one.read(2), two.read(4), one.read()] == [b"two\n", b"on", b"two\n", b"e\n"]
        two.seek(0)
        assert two.read() == FILES["a/t02.txt"]


def test_an_archive_without_members_is_empty():
    packed = io.BytesIO()
    zipfile.ZipFile(packed, "w").close()
    assert read(packed.getvalue()) == ({}, {}, [], "zip")


@pytest.mark.parametrize(
    "data", [b"", b"sysbench 1.0.20\n" * 100, b"PK are my initials", b"BZh9 is no text", b"\0" * 1024]
)
def test_what_is_no_archive_is_not_taken_for_one(data):
    assert recognise(data) == ""


def test_a_folder_gives_its_regular_files_and_leaves_links_alone(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b/t02.txt").write_bytes(b"two\n")
    (tmp_path / "a.txt").write_bytes(b"one\n")
    (tmp_path / "link.txt").symlink_to(tmp_path / "a.txt")
    (tmp_path / "outside").symlink_to("/etc")
    (tmp_path / "wrong\x07name").write_bytes(b"")
    container = of_folder(tmp_path)
    assert [(one.path, one.read()) for one in container.members] == [
        ("a.txt", b"one\n"),
        ("b/t02.txt", b"two\n"),
    ]
    assert [one.reason for one in container.refused] == ["its name holds what is no UTF-8 text"]


# --- members that are refused -------------------------------------------------------------------------------

NAMES = {
    "../../etc/passwd": "leads out of the archive",
    "a/../../t.txt": "leads out of the archive",
    "/etc/passwd": "is absolute",
    "C:/t.txt": "is absolute",
    "..\\t.txt": "holds a backslash",
    "a\x1b[2J.txt": "no UTF-8 text",
    "n" * 501: "longer than 500 characters",
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("pack", [tar_of, zip_of])
def test_a_name_that_leads_elsewhere_is_refused_and_the_rest_is_read(pack, name):
    files, refused, _, _ = read(pack({name: b"bad\n", "good.txt": b"good\n"}))
    assert files == {"good.txt": b"good\n"}
    [reason] = refused.values()
    assert NAMES[name] in reason


def test_links_and_devices_in_a_tar_archive_are_refused():
    packed = tar_of(
        {
            "link": entry("link", tarfile.SYMTYPE, linkname="/etc/passwd"),
            "hard": entry("hard", tarfile.LNKTYPE, linkname="t.txt"),
            "fifo": entry("fifo", tarfile.FIFOTYPE),
            "disk": entry("disk", tarfile.BLKTYPE, devmajor=8),
            "tty": entry("tty", tarfile.CHRTYPE, devmajor=5),
            "t.txt": b"good\n",
        }
    )
    assert read(packed)[:2] == (
        {"t.txt": b"good\n"},
        {
            "link": "it is a link",
            "hard": "it is a link",
            "fifo": "it is a device",
            "disk": "it is a device",
            "tty": "it is a device",
        },
    )


def test_folders_of_a_zip_archive_made_by_an_old_tool_of_windows_are_read():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in ("res\\t04.txt", "..\\t.txt", "C:\\t.txt"):
            info = zipfile.ZipInfo(name)
            info.create_system = 0
            archive.writestr(info, b"good\n")
    files, refused, *_ = read(packed.getvalue())
    assert files == {"res/t04.txt": b"good\n"}
    assert sorted(refused.values()) == ["its name is absolute", "its name leads out of the archive"]


def test_links_and_devices_in_a_zip_archive_are_refused():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, mode in (("link", 0o120777), ("fifo", 0o010644), ("t.txt", 0o100644)):
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            archive.writestr(info, "good\n")
    files, refused, _, _ = read(packed.getvalue())
    assert files == {"t.txt": b"good\n"}
    assert refused == {"link": "it is a link", "fifo": "it is no ordinary file"}


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_of_two_members_with_one_name_the_first_counts():
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, data in (("t.txt", b"one\n"), ("./t.txt", b"two\n")):
            header = tarfile.TarInfo(name)
            header.size = len(data)
            archive.addfile(header, io.BytesIO(data))
    files, refused, _, _ = read(packed.getvalue())
    assert files == {"t.txt": b"one\n"}
    assert refused == {"./t.txt": "the archive holds this name more than once; the first counts"}

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("t.txt", "one\n")
        archive.writestr("t.txt", "two\n")
    assert read(packed.getvalue())[0] == {"t.txt": b"one\n"}


def test_an_encrypted_member_is_refused():
    packed = bytearray(zip_of({"secret.txt": b"x" * 50, "t.txt": b"good\n"}))
    packed[6] |= 1  # the flag in its header
    packed[packed.index(b"PK\x01\x02") + 8] |= 1  # and in the directory
    assert read(bytes(packed))[:2] == ({"t.txt": b"good\n"}, {"secret.txt": "it is encrypted"})


def test_a_member_with_a_wrong_checksum_is_refused():
    packed = bytearray(zip_of({"bad.txt": b"x" * 5000 + b"y", "t.txt": b"good\n"}))
    start = packed.index(b"PK\x01\x02") + 16
    packed[start : start + 4] = b"\1\2\3\4"
    assert read(bytes(packed))[:2] == ({"t.txt": b"good\n"}, {"bad.txt": "it is damaged"})


@pytest.mark.parametrize(
    "inner", [zip_of(FILES), tar_of(FILES), gzip.compress(b"one\n")], ids=["zip", "tar", "gz"]
)
@pytest.mark.parametrize("pack", [tar_of, zip_of])
def test_an_archive_within_an_archive_is_refused(pack, inner):
    files, refused, _, _ = read(pack({"inner": inner, "t.txt": b"good\n"}))
    assert files == {"t.txt": b"good\n"}
    assert refused == {"inner": "it is an archive itself; unpack it first"}


def test_a_name_that_is_no_utf_8_is_refused():
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT, encoding="latin-1") as archive:
        archive.addfile(tarfile.TarInfo("Gr\xf6\xdfe.txt"))
    assert "no UTF-8 text" in str(read(packed.getvalue())[1])

    zipped = zip_of({"GrXXe.txt": b"one\n"}).replace(b"GrXXe", b"Gr\xf6\xdfe")
    assert "no UTF-8 text" in str(read(zipped)[1])


def test_a_sparse_file_is_refused_and_the_next_member_is_read():
    old = bytearray(entry("old", tarfile.GNUTYPE_SPARSE, size=700).tobuf(tarfile.GNU_FORMAT))
    old[482] = 1  # its map goes on in the next block
    old[148:156] = b"%06o\0 " % tarfile.calc_chksums(bytes(old))[0]
    new = entry("new", tarfile.REGTYPE, size=1, pax_headers={"GNU.sparse.major": "1"})
    packed = bytes(old) + bytes(512 + 1024) + new.tobuf(tarfile.PAX_FORMAT) + bytes(512)
    assert read(packed + tar_of({"t.txt": b"good\n"})) == (
        {"t.txt": b"good\n"},
        {"old": "it is a sparse file", "new": "it is a sparse file"},
        [],
        "tar",
    )


# --- limits -------------------------------------------------------------------------------------------------


def test_a_member_larger_than_a_file_may_be_is_refused_and_the_rest_is_read():
    files = {"large.txt": b"x" * 1_000_001, "t.txt": b"good\n"}
    for packed in (tar_of(files), zip_of(files)):
        found, refused, _, _ = read(packed)
        assert found == {"t.txt": b"good\n"}
        assert refused == {"large.txt": "it is larger than 1000000 bytes (UPLOAD_MAX_BYTES)"}


@pytest.mark.parametrize("pack", [tar_of, zip_of])
def test_more_files_than_allowed_are_refused_together(pack):
    with pytest.raises(ContainerError, match=r"more than 100 files \(ARCHIVE_MAX_FILES\)"):
        read(pack({f"{number}.txt": b"" for number in range(101)}))


@pytest.mark.parametrize("pack", [lambda files: gzip.compress(tar_of(files)), zip_of])
def test_more_unpacked_bytes_than_allowed_are_refused_together(pack):
    with pytest.raises(ContainerError, match="more than 5000000 bytes"):
        read(pack({f"{number}.txt": b"x" * 900_000 for number in range(6)}))


def test_a_directory_that_says_it_is_huge_is_not_read():
    packed = bytearray(zip_of(FILES))
    end = packed.index(b"PK\x05\x06")
    filler = b"\0" * 200_000
    packed[end:end] = filler
    end += len(filler)
    size = struct.unpack_from("<L", packed, end + 12)[0] + len(filler)
    struct.pack_into("<L", packed, end + 12, size)
    with pytest.raises(ContainerError, match="directory of"):
        read(bytes(packed))


BOMB = """
import io, resource, sys
sys.path.insert(0, ".")
from ingest.containers import ContainerError, ArchiveLimits, unpacked
limits = ArchiveLimits(files=20_000, member_bytes=200 << 20, unpacked_bytes=2 << 30, ratio=200)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    with unpacked(open(sys.argv[1], "rb"), limits) as container:
        print([one.reason for one in container.refused])
except ContainerError as error:
    print(error)
print("MiB", (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def told_of_a_bomb(path):
    """What is said of it, and the MiB of memory that reading it took."""
    command = [sys.executable, "-c", BOMB, str(path)]
    root = Path(__file__).parents[2]
    printed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    said, _, mib = printed.strip().rpartition("\nMiB ")
    return said, int(mib)


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst", "zip"])
def test_a_bomb_of_zeros_is_refused_in_little_memory(tmp_path, kind):
    zeros = bytes(1 << 20)
    bomb = tmp_path / "bomb"
    if kind == "zip":
        with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("0", "w") as file:
            for _ in range(190):
                file.write(zeros)
    else:
        opener = {"gz": gzip.open, "bz2": bz2.open, "xz": lzma.open, "zst": zstandard.open}[kind]
        with opener(bomb, "wb") as file:
            for _ in range(300):
                file.write(zeros)
    said, mib = told_of_a_bomb(bomb)
    assert "times its size" in said
    assert mib < 60


def test_a_header_that_is_said_to_be_huge_takes_no_memory(tmp_path):
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, 8 << 30
    bomb = tmp_path / "bomb"
    bomb.write_bytes(gzip.compress(header.tobuf(tarfile.GNU_FORMAT) + bytes(50 << 20)))
    said, mib = told_of_a_bomb(bomb)
    assert said == "the file has a header that is too large, and nothing of it can be read"
    assert mib < 20


def test_what_asks_for_much_memory_to_be_unpacked_is_refused():
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 29}]
    with pytest.raises(ContainerError, match="too much memory"):
        read(lzma.compress(tar_of(FILES), filters=filters))
    parameters = zstandard.ZstdCompressionParameters(window_log=29)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    with pytest.raises(ContainerError, match="too much memory"):
        read(packer.compress(tar_of(FILES)) + packer.flush())


# --- cut and damaged archives -------------------------------------------------------------------------------


def read_or_told(data):
    """As read; without files and with a warning for what cannot be read at all."""
    try:
        return read(data, name="x")
    except ContainerError as error:
        return {}, {}, [str(error)], ""


@pytest.mark.parametrize("kind", ["", *COMPRESSED])
def test_a_cut_tar_archive_gives_what_came_before_and_says_where_it_ends(kind):
    whole = tar_of({f"{number}.txt": bytes([65 + number]) * 700 for number in range(4)})[: 4 * 1536 + 1024]
    packed = COMPRESSED[kind](whole) if kind else whole
    for cut in range(512 if not kind else 20, len(packed) - 1, 7):
        files, refused, warnings, _ = read_or_told(packed[:cut])
        assert all(data == bytes([65 + int(path[0])]) * 700 for path, data in files.items())
        assert len(files) == 4 or warnings
        assert all(" breaks off" in warning for warning in warnings)
        assert all(reason == "the archive breaks off within it" for reason in refused.values())


@pytest.mark.parametrize("kind", COMPRESSED)
def test_a_cut_compressed_file_is_never_taken_for_whole(kind):
    text = b"".join(b"%d transactions\n" % number for number in range(2000))
    packed = COMPRESSED[kind](text)
    for cut in range(20, len(packed) - 1, 61):
        with pytest.raises(ContainerError, match="nothing of it can be read"):
            read(packed[:cut], name="x")


def test_a_cut_zip_archive_is_refused():
    packed = zip_of(FILES)
    for cut in range(4, len(packed)):
        with pytest.raises(ContainerError, match="the zip archive is cut or damaged"):
            read(packed[:cut])


def test_what_lies_behind_the_end_of_a_tar_archive_is_told():
    packed = tar_of({"a.txt": b"one\n"}) + tar_of({"b.txt": b"two\n"})
    files, _, warnings, _ = read(packed)
    assert files == {"a.txt": b"one\n"}
    assert warnings == ["what follows the end of the tar archive was not read"]


@given(
    packed=st.sampled_from(
        [tar_of(FILES), tar_of(FILES, tarfile.GNU_FORMAT), zip_of(FILES)]
        + [pack(tar_of(FILES)) for pack in COMPRESSED.values()]
    ),
    changes=st.lists(st.tuples(st.integers(0, 20_000), st.integers(0, 255)), max_size=20),
    cut=st.integers(0, 20_000),
)
def test_whatever_its_bytes_are_an_archive_is_read_or_refused(packed, changes, cut):
    data = bytearray(packed[: cut or None])
    for position, byte in changes:
        data[position % len(data)] = byte
    try:
        files, _, _, _ = read(bytes(data))
    except ContainerError:
        return
    assert all(not path.startswith("/") and ".." not in path.split("/") for path in files)
