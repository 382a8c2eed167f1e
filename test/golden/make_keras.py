"""Writes keras_optimizers.txt and keras_losses.txt: what Keras 3.15.1 on TensorFlow 2.21.0 gives. Run: python make_keras.py"""
import os

os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
import keras

assert (tf.__version__, keras.__version__) == ("2.21.0", "3.15.1"), (tf.__version__, keras.__version__)
HERE = os.path.dirname(os.path.abspath(__file__))


def u(count, v):
    """The integer hash of test/unit/nn_testing.h: count numbers in [0, 1)."""
    x = np.arange(count, dtype=np.uint32) * np.uint32(2654435761) + np.uint32((v * 40503 + 12345) % 2**32)
    x ^= x >> np.uint32(15)
    x *= np.uint32(2246822519)
    x ^= x >> np.uint32(13)
    x *= np.uint32(3266489917)
    x ^= x >> np.uint32(16)
    return (x.astype(np.float64) / 2**32).astype(np.float32)


def line(name, values):
    return name + " " + " ".join(f"{float(v):.9g}" for v in np.ravel(values)) + "\n"


def optimizers():
    # In float64: in float32 Keras loses digits of 1 - beta_2^step.
    keras.backend.set_floatx("float64")
    k = keras.optimizers
    cases = {
        "sgd": k.SGD(0.01),
        "sgd_momentum": k.SGD(0.05, momentum=0.9),
        "sgd_nesterov": k.SGD(0.05, momentum=0.9, nesterov=True),
        "sgd_clip_norm": k.SGD(0.1, clipnorm=0.5),
        "sgd_global_clip_norm": k.SGD(0.1, global_clipnorm=0.5),
        "adam": k.Adam(),
        "adam_other": k.Adam(0.02, beta_1=0.8, beta_2=0.95, epsilon=1e-3),
        "adam_clip_norm": k.Adam(0.01, clipnorm=0.7),
    }
    with open(os.path.join(HERE, "keras_optimizers.txt"), "w") as f:
        for name, optimizer in cases.items():
            w = keras.Variable(2.0 * u(6, 1).astype(np.float64).reshape(2, 3) - 1)
            b = keras.Variable(2.0 * u(3, 2).astype(np.float64) - 1)
            for step in range(1, 51):
                gradients = [(2 * u(6, 100 + step) - 1).reshape(2, 3), 0.1 * (2 * u(3, 200 + step) - 1)]
                optimizer.apply([tf.constant(g.astype(np.float64)) for g in gradients], [w, b])
                if step in (1, 2, 10, 50):
                    f.write(line(f"{name} {step}", np.concatenate([np.ravel(w), np.ravel(b)])))
    keras.backend.set_floatx("float32")


def losses():
    k = keras.losses
    logits = 6 * u(12, 3).reshape(4, 3) - 3
    probabilities = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    classes = np.array([2, 0, 1, 2], np.int32)
    one_hot = np.eye(3, dtype=np.float32)[classes]
    soft = u(12, 4).reshape(4, 3)
    soft = (soft / soft.sum(-1, keepdims=True)).astype(np.float32)
    bits = (u(12, 5).reshape(4, 3) > 0.5).astype(np.float32)
    scores = u(12, 6).reshape(4, 3)
    cases = {
        "sparse_logits": (k.SparseCategoricalCrossentropy, dict(from_logits=True), classes, logits),
        "sparse_probabilities": (k.SparseCategoricalCrossentropy, {}, classes, probabilities),
        "categorical_logits": (k.CategoricalCrossentropy, dict(from_logits=True), one_hot, logits),
        "categorical_soft": (k.CategoricalCrossentropy, dict(from_logits=True), soft, logits),
        "categorical_probabilities": (k.CategoricalCrossentropy, {}, one_hot, probabilities),
        "binary_logits": (k.BinaryCrossentropy, dict(from_logits=True), bits, logits),
        "binary_probabilities": (k.BinaryCrossentropy, {}, bits, scores),
        "mean_squared_error": (k.MeanSquaredError, {}, bits, logits),
    }
    with open(os.path.join(HERE, "keras_losses.txt"), "w") as f:
        f.write(line("probabilities", probabilities))
        for name, (loss, options, right, predicted) in cases.items():
            for reduction in ("sum_over_batch_size", "sum", "none"):
                x = tf.constant(predicted.astype(np.float32))
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    value = loss(reduction=reduction, **options)(right, x)
                f.write(line(f"{name} {reduction}", value))
                if reduction == "sum_over_batch_size":
                    f.write(line(f"{name} gradient", tape.gradient(value, x)))


optimizers()
losses()
