#!/usr/bin/env python3
"""Makes kernels.csv, layers.csv and shapes.csv: small files in the layouts that `idletune offload`
reads, with invented times that follow from the features.

usage: make_samples.py FOLDER        (Python 3, nothing else)
"""
import math
import random
import sys

folder = sys.argv[1]
draw = random.Random(1)

with open(f"{folder}/kernels.csv", "w") as f:
    f.write("benchmark,dataset,comp,rational,mem,localmem,coalesced,atomic,transfer,wgsize,oracle,"
            "runtime_cpu,runtime_gpu\n")
    for program in range(10):
        for kernel in range(6):
            comp, mem = draw.randrange(5, 200), draw.randrange(1, 60)
            transfer = 2 ** draw.randrange(10, 26)
            cpu = transfer * comp * 1e-8 * draw.uniform(0.9, 1.1)
            gpu = 0.05 + transfer * 4e-7 + transfer * comp * 1e-9 * draw.uniform(0.9, 1.1)
            if program == 3 and kernel == 2:
                gpu = 0  # a timer that failed
            f.write(f"suite{program % 3}-1.0-prog{program}-k{kernel},default,{comp},{comp // 9},{mem},"
                    f"{mem // 4},{mem // 2},0,{transfer},256,{'GPU' if gpu < cpu else 'CPU'},"
                    f"{cpu:.6f},{gpu:.6f}\n")

layers = []  # network, layer, kind, channels, side, filters, kernel
for network in ("one-1.0", "two", "three"):
    side, channels = draw.choice((16, 24, 32)), 3
    for i in range(6):
        filters = draw.choice((8, 16, 32))
        layers.append((network, f"{2 * i + 1:02}: conv{i}", "Convolution", channels, side, filters, 3))
        layers.append((network, f"{2 * i + 2:02}: relu{i}", "ReLU", filters, side, filters, ""))
        channels = filters

with open(f"{folder}/shapes.csv", "w") as f:
    f.write("network,layer_index,layer,type,bottom,in_channels,in_height,in_width,out_channels,"
            "out_height,out_width,kernel,stride,pad,group,extra,name,numbering\n")
    for network, layer, kind, channels, side, filters, kernel in layers:
        f.write(f"{network},{int(layer[:2])},{layer},{kind},x,{channels},{side},{side},{filters},"
                f"{side},{side},{kernel},{1 if kernel else ''},{1 if kernel else ''},"
                f"{1 if kernel else ''},,{layer[4:]},caffe\n")

with open(f"{folder}/layers.csv", "w") as f:
    f.write("device,network,variant,batch,threads,rep,layer_index,layer,direction,time_ms\n")
    for network, layer, kind, channels, side, filters, kernel in layers:
        for batch in (1, 2, 8):
            outputs = batch * filters * side * side
            work = outputs * (18 * channels if kernel else 1)
            for variant, ms in (("cpu", work * 1e-6), ("opencl-a", 0.05 + work * (1e-7 if kernel else 3e-6)),
                                ("opencl-b", 0.2 + work * 8e-8)):
                for rep in range(2):
                    f.write(f"board,{network},{variant},{batch},,{rep},{int(layer[:2])},{layer},forward,"
                            f"{ms * math.exp(draw.gauss(0, 0.05)):.6f}\n")
