"""Writes an imbalanced two-class Fashion-MNIST for `cargo experiment auprc --datasets fashion-mnist`.

As in the image experiments of Qi et al. 2021, "Stochastic Optimization of Areas Under Precision-Recall Curves with
Provable Convergence" (there with CIFAR): the last five classes are positive, the first five negative; 98 % of the
positives of the training part are removed, the test part stays balanced. Features are pixels / 255.

The images come from Debian's package dataset-fashion-mnist (Zalando SE, MIT licence):

    apt-get download dataset-fashion-mnist && dpkg -x dataset-fashion-mnist_*.deb debian
    python3 tests/golden/fashion_mnist.py debian/usr/share/datasets/fashion-mnist FOLDER

FOLDER then holds fashion-mnist.train.svm.gz and fashion-mnist.test.svm.gz. Standard library only.
"""

import gzip
import random
import struct
import sys


def read(folder, part):
    with gzip.open(f"{folder}/{part}-images-idx3-ubyte.gz") as file:
        magic, count, height, width = struct.unpack(">4i", file.read(16))
        assert magic == 2051
        size = height * width
        pixels = file.read(count * size)
        assert len(pixels) == count * size
    with gzip.open(f"{folder}/{part}-labels-idx1-ubyte.gz") as file:
        magic, labelled = struct.unpack(">2i", file.read(8))
        assert (magic, labelled) == (2049, count)
        labels = file.read(count)
    return [pixels[k * size : (k + 1) * size] for k in range(count)], labels


def write(file, images, labels, rows):
    shades = ["%.4g" % (k / 255) for k in range(256)]
    with gzip.open(file, "wt", compresslevel=6) as out:
        for row in rows:
            sign = "+1" if labels[row] >= 5 else "-1"
            cells = (f"{k + 1}:{shades[v]}" for k, v in enumerate(images[row]) if v)
            out.write(f"{sign} {' '.join(cells)}\n")


def main(source, target):
    images, labels = read(source, "train")
    positives = [row for row, label in enumerate(labels) if label >= 5]
    kept = set(random.Random(1).sample(positives, len(positives) // 50))
    rows = [row for row, label in enumerate(labels) if label < 5 or row in kept]
    write(f"{target}/fashion-mnist.train.svm.gz", images, labels, rows)
    images, labels = read(source, "t10k")
    write(f"{target}/fashion-mnist.test.svm.gz", images, labels, range(len(images)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
