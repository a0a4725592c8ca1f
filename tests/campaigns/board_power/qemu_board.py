"""Debian on aarch64 in qemu, with programs of ours, for boards that are killed or reached by ssh."""
import gzip
import pathlib
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[3]
LIBRARIES = ("ld-linux-aarch64.so.1", "libc.so.6", "libdl.so.2", "libgcc_s.so.1", "libm.so.6", "libpthread.so.0",
             "libstdc++.so.6")
MODULES = ("virtio", "virtio_ring", "virtio_pci_legacy_dev", "virtio_pci_modern_dev", "virtio_pci", "virtio_blk")


def call(*words, **options):
    done = subprocess.run([str(each) for each in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, **options)
    return done.returncode, done.stdout


def must(*words, **options):
    status, output = call(*words, **options)
    if status:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {words[0]}: {output.decode(errors='replace')[-600:]}")


def kernel(debian):
    return max((debian / "boot").glob("vmlinuz-*"))


def fetch(debian, *further, flavour="cloud-arm64"):
    """Kernel, C library, busybox and further packages, unpacked there if nothing is."""
    must(SOURCE / "toolchains/sysroot", debian, "bookworm", "arm64", f"?name(^linux-image-[0-9.-]*-{flavour}$)",
         "busybox-static", *further)


def build(folder, *targets, options=()):
    must("cmake", "-G", "Ninja", "-S", SOURCE, "-B", folder, "-C", SOURCE / "toolchains/aarch64.cmake",
         "-DIDLETUNE_OPENCL=OFF", "-DIDLETUNE_CUDA=OFF", "-DIDLETUNE_BUILD_TESTS=ON", *options)
    must("cmake", "--build", folder, "--parallel", "2", "--target", *targets)


def fill(root, debian, programs, libraries=(), modules=()):
    """`programs`: where they are, by their names in /bin."""
    shutil.rmtree(root, ignore_errors=True)
    for each in ("bin", "lib", "modules"):
        (root / each).mkdir(parents=True)
    for name, program in {"busybox": debian / "bin/busybox", **programs}.items():
        shutil.copy(program, root / "bin" / name)
    for name in (*LIBRARIES, *libraries):
        shutil.copy(next(debian.rglob(f"aarch64-linux-gnu/{name}")), root / "lib")
    folder = debian / "lib/modules" / kernel(debian).name.removeprefix("vmlinuz-")
    for name in (*MODULES, *modules):
        for module in folder.rglob(f"{name}.ko"):  # or the kernel has it built in
            shutil.copy(module, root / "modules")


def archive(root):
    """As cpio -H newc makes it."""
    data = b""
    for number, path in enumerate([*sorted(root.rglob("*")), None], 1):
        name = str(path.relative_to(root)).encode() if path else b"TRAILER!!!"
        content = path.read_bytes() if path and path.is_file() else b""
        mode = path.stat().st_mode if path else 0
        fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
        data += b"070701" + "".join(f"{each:08x}" for each in fields).encode() + name + b"\0"
        data += bytes(-len(data) % 4) + content
        data += bytes(-len(data) % 4)
    return data


def pack(root, init, initrd):
    (root / "init").write_text(init)
    (root / "init").chmod(0o755)
    initrd.write_bytes(gzip.compress(archive(root), 1))


def start(debian, initrd, words, *options):
    return subprocess.Popen(
        ["qemu-system-aarch64", "-machine", "virt", "-cpu", "cortex-a57", "-m", "256", "-nographic", "-nodefaults",
         "-serial", "stdio", "-kernel", kernel(debian), "-initrd", initrd,
         "-append", f"console=ttyAMA0 quiet panic=-1 {words}", *options],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
