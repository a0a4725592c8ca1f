"""The tuned packages and the shapes at which they are compared with their CPU loops."""

PACKAGES = [
    ("bicg", "rows", [(512, 512), (128, 2048)]),
    ("cavity_block", "stencil", [(256, 256), (64, 512)]),
    ("conv2d", "stencil", [(128, 128), (32, 512)]),
    ("conv2d_block", "stencil", [(256, 256), (64, 64)]),
    ("conv3d_block", "stencil", [(32, 32, 32), (8, 64, 64)]),
    ("coulomb3d", "compute", [(16, 32, 32, 64), (8, 16, 16, 512)]),
    ("fourier3d", "irregular", [(16, 16), (24, 4)]),
    ("gemm", "compute", [(128, 128, 128), (256, 64, 32)]),
    ("gemm_batched", "compute", [(256, 16, 16, 16), (1024, 8, 8, 8)]),
    ("gemm_block", "compute", [(96, 96, 96), (32, 128, 64)]),
    ("gesummv_block", "rows", [(512,), (1024,)]),
    ("hotspot", "stencil", [(128, 128), (256, 64)]),
    ("mvt_block", "rows", [(512,), (1024,)]),
    ("nbody", "compute", [(512,), (1024,)]),
    ("reduction", "rows", [(32, 8192), (1024, 128)]),
    ("stencil27_block", "stencil", [(32, 32, 32), (8, 64, 64)]),
    ("syr2k_block", "compute", [(96, 96), (64, 256)]),
    ("syrk_block", "compute", [(96, 96), (64, 256)]),
    ("transpose", "stream", [(512, 512), (64, 2048)]),
]
