"""Which boot of this machine it is: what makes a lease of before a reboot recognisable."""

from __future__ import annotations

import sys


def boot_id() -> str:
    """A text that is another one after every reboot; empty where the system offers none.

    Linux: the kernel's random boot id.  macOS: `kern.bootsessionuuid`.  Windows: the boot counter of the registry.
    Elsewhere a reboot is known by the monotonic clock, which starts anew (see `transport`).
    """
    try:
        if sys.platform == "linux":
            with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
                return file.read().strip()
        if sys.platform == "darwin":
            return _sysctl(b"kern.bootsessionuuid")
        if sys.platform == "win32":
            return _boot_count()
    except (OSError, AttributeError):
        pass  # a container may hide it
    return ""


if sys.platform == "darwin":

    def _sysctl(name: bytes) -> str:
        import ctypes

        text = ctypes.create_string_buffer(64)
        size = ctypes.c_size_t(len(text))
        if ctypes.CDLL(None).sysctlbyname(name, text, ctypes.byref(size), None, 0):
            return ""
        return text.value.decode("ascii")


if sys.platform == "win32":

    def _boot_count() -> str:
        import winreg

        where = r"SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management\PrefetchParameters"
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, where) as key:
            return str(winreg.QueryValueEx(key, "BootId")[0])
