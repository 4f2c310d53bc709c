"""Archives made for tests."""

import io
import tarfile
import zipfile


def tar_of(files, format_=tarfile.PAX_FORMAT):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=format_) as archive:
        for name, data in files.items():
            header = data if isinstance(data, tarfile.TarInfo) else tarfile.TarInfo(name)
            if isinstance(data, bytes):
                header.size = len(data)
            archive.addfile(header, io.BytesIO(data if isinstance(data, bytes) else b""))
    return packed.getvalue()


def zip_of(files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()
