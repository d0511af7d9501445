"""Feature maps and built-in sequences."""

import numpy as np
import pytest
from scipy.ndimage import rotate
from scipy.spatial.distance import pdist, squareform

import imrc
from imrc.datasets.digits import rotate_images
from imrc.features import CompiledFourier, FeatureSpec, PulledIn, RandomFourier, make, plain


@pytest.fixture
def mixed():
    generator = np.random.default_rng(0)
    X = np.column_stack([generator.normal(5, 3, 60), generator.integers(0, 2, 60), np.full(60, 2.0)])
    tasks = [imrc.Task(X[:30], np.arange(30) % 2), imrc.Task(X[30:] * [2, 1, 1], np.arange(30) % 2)]
    return imrc.TaskSequence(tasks)


def test_standardised_uses_the_first_task_only(mixed):
    features = make("standardised", mixed)
    first = features.transform(mixed[0].X)
    np.testing.assert_allclose(first[:, 0].mean(), 0, atol=1e-12)
    np.testing.assert_allclose(first[:, 0].std(), 1)
    assert (first[:, 2] == 0).all()  # a constant column has scale 1
    assert features.transform(mixed[1].X)[:, 0].std() > 1.5


def test_random_fourier_features_of_the_paper(mixed):
    features = make(FeatureSpec("rff", frequencies=4000), mixed, seed=1)
    values = features.transform(mixed[0].X)
    assert values.shape == (30, 8000)
    np.testing.assert_allclose(values[:, :4000] ** 2 + values[:, 4000:] ** 2, 1.0)
    # cos(x'u - z'u) averages to exp(-|x - z|^2 s^2 / 2) for frequencies of standard deviation s = 1/20.
    gram = values @ values.T / 4000
    difference = mixed[0].X[0] - mixed[0].X[1]
    assert gram[0, 1] == pytest.approx(np.exp(-difference @ difference / 800), abs=0.05)


def test_frequencies_follow_the_seed(mixed):
    one, same, other = (make("rff", mixed, seed=s).transform(mixed[0].X) for s in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_median_distance_scales_the_frequencies(mixed):
    features = make(FeatureSpec("rff_median", frequencies=5000), mixed)
    ((_, (standardised, fourier)),) = features.parts
    spread = np.median(pdist(standardised.transform(mixed[0].X)))
    assert fourier.frequencies.std() * spread == pytest.approx(1.0, rel=0.03)


def test_pixels_stay_linear():
    digits = imrc.datasets.load("rotated_digits", tasks=5)
    assert make("automatic", digits).n_outputs == 64
    assert make("paper", digits).n_outputs == 64


def test_blended_maps_numbers_twice_and_keeps_binary_columns(mixed):
    features = make("blended", mixed)
    values = features.transform(mixed[0].X)
    assert values.shape == (30, 403)
    np.testing.assert_array_equal(values[:, -1], mixed[0].X[:, 1])
    fourier, linear = values[:, :400], values[:, 400:402]
    np.testing.assert_allclose((fourier**2).sum(axis=1), 200.0)
    # A fifth of the mean squared norm is linear, centred; the constant column is zero.
    assert (linear**2).sum(axis=1).mean() == pytest.approx(200.0 / 4.0)
    np.testing.assert_allclose(linear.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.corrcoef(linear[:, 0], mixed[0].X[:, 0])[0, 1], 1.0)
    assert (linear[:, 1] == 0.0).all()


def test_blended_pulls_in_what_is_far_from_the_first_task():
    """A column that hardly varied at first does not become larger than everything else when it moves."""
    generator = np.random.default_rng(0)
    first, later = generator.normal(0.0, [1.0, 1e-3], (40, 2)), generator.normal(0.0, 1.0, (40, 2))
    y = np.arange(40) % 2
    sequence = imrc.TaskSequence([imrc.Task(first, y), imrc.Task(later, y)], column_kinds=("numeric", "numeric"))
    linear = np.abs(make("blended", sequence).transform(later)[:, 400:])
    assert linear[:, 1].max() < 10 * linear[:, 0].max()
    scaled = make("standardised", sequence).transform(later)
    assert np.abs(scaled[:, 1]).max() > 500
    pulled = PulledIn(2, 8.0).transform(scaled)
    assert np.abs(pulled).max() < 8.0 + np.log(3000)
    inside = np.abs(scaled) <= 8.0
    np.testing.assert_array_equal(pulled[inside], scaled[inside])
    for before, after in zip(scaled.T, pulled.T, strict=True):
        np.testing.assert_array_equal(np.argsort(before), np.argsort(after))


def test_blended_pixels_have_orthogonal_frequencies_beside_themselves():
    digits = imrc.datasets.load("rotated_digits", tasks=5)
    features = make("blended", digits)
    assert features.n_outputs == 864
    (_, (fourier,)), (_, (linear,)) = features.parts
    block = fourier.frequencies[:, :64]
    lengths = np.linalg.norm(block, axis=0)
    np.testing.assert_allclose(block.T @ block / np.outer(lengths, lengths), np.eye(64), atol=1e-12)
    spread = np.median(pdist(digits[0].X[:500]))
    assert np.sqrt((fourier.frequencies**2).mean()) * spread == pytest.approx(2.0, rel=0.03)
    # The map stands for exp(-|x - z|^2 / (2 s^2)) with s half the median distance.
    x = digits[0].X[:40]
    values = fourier.transform(x)
    expected = np.exp(-2.0 * (squareform(pdist(x)) / spread) ** 2)
    np.testing.assert_allclose(values @ values.T / 400, expected, atol=0.12)
    assert np.ptp(linear.scale) == 0.0


@pytest.mark.parametrize("largest", [1e-300, 1e-8, 1.0, 1e3, 1e6])
def test_compiled_cosines_and_sines_are_those_of_numpy(largest, rng):
    """Also around every eighth of a turn, in a view of one row, without rows, and of angles too large to compile."""
    eighths = min(largest, 1.0) * (np.arange(-40, 41)[:, None] * np.pi / 4 + [0.0, 1e-16, -1e-9])
    for angles in (rng.uniform(-largest, largest, (50, 70)), eighths, eighths[:1], eighths[:0], np.full((1, 2), 1e300)):
        kinds = [kind(np.eye(angles.shape[1])) for kind in (RandomFourier, CompiledFourier)]
        expected, found = (one.with_intercept(angles) for one in kinds)
        np.testing.assert_allclose(found, expected, rtol=0, atol=4e-16)
        np.testing.assert_array_equal(plain(kinds[1]).with_intercept(angles), expected)


def test_automatic_is_scaled_frequencies_of_numbers_beside_binary_columns(mixed):
    values = make("automatic", mixed, seed=4).transform(mixed[1].X)
    numeric = imrc.TaskSequence([imrc.Task(task.X[:, [0, 2]], task.y) for task in mixed])
    expected = make("rff_median", numeric, seed=4).transform(numeric[1].X)
    np.testing.assert_allclose(values[:, :-1], expected, atol=1e-12)
    np.testing.assert_array_equal(values[:, -1], mixed[1].X[:, 1])


def mixed_classes() -> imrc.TaskSequence:
    generator, tasks = np.random.default_rng(0), []
    for j in range(5):
        y = generator.permutation(np.arange(40) % 3)
        columns = generator.normal(5 + y, 3), generator.normal(j * y, 1 + j), generator.integers(0, 2, 40)
        tasks.append(imrc.Task(np.column_stack(columns), y))
    return imrc.TaskSequence(tasks)


@pytest.mark.parametrize(
    ("sequence", "features", "errors", "total", "parameters"),
    [
        (
            lambda: imrc.datasets.load("rotated_digits", tasks=5, seed=0),
            "automatic",  # pixels stay as they are: nothing is drawn
            (0.38413333333333333, 0.40196666666666667),
            6908.67905795024,
            41.021146928537306,
        ),
        (mixed_classes, "standardised", (0.562, 0.5905833333333333), 1223.9979197381072, 14.464614477600898),
    ],
)
def test_what_was_recommended_repeats(sequence, features, errors, total, parameters):
    sequence = sequence()
    chosen = {"preset": "recommended", "features": features}
    result = imrc.evaluate(sequence, n=10, b=2, repetitions=2, seed=3, **chosen)
    found = (result.headline()["forward_backward"].mean, result.headline()["single"].mean)
    assert found == pytest.approx(errors, abs=1e-12)
    transform = make("automatic", sequence, 3).transform
    assert transform(sequence[4].X).sum() == pytest.approx(total, rel=1e-12)
    learner = imrc.IMRC(b=2, preset="recommended", features="identity")
    for task in sequence.tasks[:2]:
        learner.partial_fit(transform(task.X), task.y)
    # Candidates are tested at a gradient norm of .01: compiled for another processor it stops elsewhere in that range.
    assert np.abs(learner.coef_["forward"][-1]).sum() == pytest.approx(parameters, rel=0.05)


@pytest.mark.parametrize("k", [2, 20, 60])
def test_rotated_digits_share_no_image(k):
    sequence = imrc.datasets.load("rotated_digits", tasks=k, seed=3)
    assert len(sequence) == k
    assert set(sequence.sizes) == {1797 // k}
    assert min(task.X.min() for task in sequence) >= 0
    assert max(task.X.max() for task in sequence) <= 1


def test_first_digits_are_hardly_turned_and_the_last_upside_down():
    from sklearn.datasets import load_digits

    images = load_digits().images / 16
    sequence = imrc.datasets.load("rotated_digits", tasks=60, seed=0)
    flat, upside_down = images.reshape(1797, -1), images[:, ::-1, ::-1].reshape(1797, -1)
    for task, reference in ((sequence[0], flat), (sequence[59], upside_down)):
        nearest = [np.abs(reference - x).mean(axis=1).min() for x in task.X]
        assert np.median(nearest) < 0.02


@pytest.mark.parametrize("k", [2, 20, 60])
def test_sixes_and_nines_share_no_image_and_turn_as_asked(k):
    sequence = imrc.datasets.load("six_or_nine", tasks=k, seed=3)
    assert set(sequence.sizes) == {361 // k}
    assert sequence.class_names == ("6", "9")
    assert sequence[-1].label == f"{360 - 360 / k:.0f}–360°"
    still = imrc.datasets.load("six_or_nine", tasks=k, turn=0, seed=3)
    images = np.concatenate([task.X for task in still])
    assert len(np.unique(images, axis=0)) == len(images), "an image is in one task only"
    half = imrc.datasets.load("six_or_nine", tasks=k, turn=180, seed=3)
    assert [task.y.tolist() for task in half] == [task.y.tolist() for task in still]


def test_upside_down_a_six_is_a_six_turned():
    still, half = (imrc.datasets.load("six_or_nine", tasks=60, turn=turn) for turn in (0.0, 180.0))
    assert np.median(np.abs(half[-1].X - still[-1].X[:, ::-1]).mean(axis=1)) < 0.02
    with pytest.raises(ValueError, match="turn must be at least"):
        imrc.datasets.load("six_or_nine", turn=-1)


def test_rotation_agrees_with_scipy(rng):
    image = rng.random((9, 9))
    for angle in (10.0, 33.0, 90.0, 171.0):
        ours = rotate_images(image[None], [angle])[0]
        theirs = rotate(image, angle, reshape=False, order=1)
        np.testing.assert_allclose(ours[2:-2, 2:-2], theirs[2:-2, 2:-2], atol=1e-12)


@pytest.mark.parametrize("kind", imrc.datasets.names("synthetic"))
def test_synthetic_truth_is_what_the_samples_show(kind):
    sequence = imrc.datasets.load(kind, tasks=6, samples=4000, features=2, seed=4)
    again = imrc.datasets.load(kind, tasks=6, samples=4000, features=2, seed=4)
    assert sequence.fingerprint == again.fingerprint
    for j, task in enumerate(sequence):
        for c in range(2):
            rows = task.X[task.y == c]
            standard_error = 1 / np.sqrt(len(rows))
            assert np.abs(rows.mean(axis=0) - sequence.truth["class_means"][j, c]).max() < 5 * standard_error
            assert np.abs(rows.std(axis=0) - 1).max() < 0.1
        bayes = sequence.truth["class_means"][j]
        direction = bayes[1] - bayes[0]
        guess = (task.X - bayes.mean(axis=0)) @ direction > 0
        error = np.mean(guess != task.y)
        assert abs(error - sequence.truth["bayes_error"][j]) < 5 * np.sqrt(0.25 / 4000)


def test_how_the_means_move():
    def steps(kind):
        means = imrc.datasets.load(kind, tasks=41, samples=4, features=400, change=0.3, seed=1).truth["class_means"]
        return np.diff(means[:, 0], axis=0)

    assert (steps("identical") == 0).all()
    walk = steps("random_walk")
    assert walk.std() == pytest.approx(0.3, rel=0.05)
    assert abs(np.mean(walk[1:] * walk[:-1])) < 0.005
    assert np.ptp(steps("trend"), axis=0).max() < 1e-9
    jump = np.abs(steps("abrupt")).max(axis=1)
    assert (np.flatnonzero(jump > 1e-12) == [19]).all()
    independent = steps("independent")
    assert np.mean(independent[1:] * independent[:-1]) / independent.var() == pytest.approx(-0.5, abs=0.05)
    periodic = imrc.datasets.load("periodic", tasks=17, samples=4).truth["class_means"]
    np.testing.assert_allclose(periodic[0], periodic[8], atol=1e-12)


def test_unknown_names_and_options():
    with pytest.raises(ValueError, match="name must be one of"):
        imrc.datasets.load("mnist4d")
    with pytest.raises(TypeError, match=r"rotated_digits: unknown option 'samples'\. Known options: tasks"):
        imrc.datasets.load("rotated_digits", samples=3)
    with pytest.raises(ValueError, match=r"tasks \(k\) must be between 2 and 60"):
        imrc.datasets.load("rotated_digits", tasks=61)
