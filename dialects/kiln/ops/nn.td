// Neural network ops. Images are NHWC: batch, height, width, channels.
#ifndef KILN_NN_TD
#define KILN_NN_TD
include "dialects/kiln/ops/base.td"

defvar padding_rule = "C3: padding is \"valid\" (none), \"same\" (result dim = dim / stride, rounded up; the odd cell goes after) or \"explicit\" with paddings {top, bottom, left, right}.";

def Kiln_Conv2dOp : Kiln_Structured<"conv2d"> {
  let summary = "Two-dimensional convolution (cross-correlation): x [n, h, w, c], filter [kh, kw, c / groups, f] -> [n, oh, ow, f].";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Tensor:$filter, Default<Kiln_Ints, "{1, 1}">:$strides, Default<Kiln_String, "\"valid\"">:$padding,
                       Default<Kiln_Ints, "{}">:$paddings, Default<Kiln_Ints, "{1, 1}">:$dilations, Default<Kiln_Int, "1">:$groups);
  let options = "Conv2dOptions";
  let dtypes = floats;
  let constraints = ["C1: x and filter have rank 4; strides and dilations have two entries >= 1.",
                     "C2: c is groups times the filter's third dim; f is divisible by groups.", padding_rule];
  let shape_rule = [{ return conv2d_type(x, filter, {strides, padding, paddings, dilations, groups}); }];
  let call = [{ return conv2d_call("conv2d", x, filter, result, {strides, padding, paddings, dilations, groups}); }];
  let gradient = [{
    const Conv2dOptions options{strides, padding, paddings, dilations, groups};
    return {conv2d_backward_input(filter, dresult, x.shape(), options), conv2d_backward_filter(x, dresult, filter.shape(), options)};
  }];
  let domain = ["-1", "1"];
  let accuracy = "n eps sum|x||filter|";
  let example = "Tensor y = conv2d(x, filter, {.strides = {2, 2}, .padding = \"same\"});";
}

def Kiln_Conv2dBackwardInputOp : Kiln_Structured<"conv2d_backward_input"> {
  let summary = "The gradient of conv2d with respect to its x, whose shape is `shape`, from the result's gradient; also a transposed convolution.";
  let arguments = (ins Kiln_Tensor:$filter, Kiln_Tensor:$gradient, Kiln_Dims:$shape, Default<Kiln_Ints, "{1, 1}">:$strides,
                       Default<Kiln_String, "\"valid\"">:$padding, Default<Kiln_Ints, "{}">:$paddings, Default<Kiln_Ints, "{1, 1}">:$dilations,
                       Default<Kiln_Int, "1">:$groups);
  let options = "Conv2dOptions";
  let dtypes = floats;
  let constraints = ["C1: gradient has the shape of conv2d(x, filter, options) for an x of `shape`."];
  let shape_rule = [{ return conv2d_backward_input_type(filter, gradient, shape, {strides, padding, paddings, dilations, groups}); }];
  let call = [{ return conv2d_call("conv2d_backward_input", result, filter, gradient, {strides, padding, paddings, dilations, groups}); }];
  let gradient = [{
    const Conv2dOptions options{strides, padding, paddings, dilations, groups};
    return {conv2d_backward_filter(dresult, gradient, filter.shape(), options), conv2d(dresult, filter, options)};
  }];
  let domain = ["-1", "1"];
  let accuracy = "n eps sum|filter||gradient|";
  let example = "Tensor dx = conv2d_backward_input(filter, dy, x.shape());";
}

def Kiln_Conv2dBackwardFilterOp : Kiln_Structured<"conv2d_backward_filter"> {
  let summary = "The gradient of conv2d with respect to its filter, whose shape is `shape`, from the result's gradient.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Tensor:$gradient, Kiln_Dims:$shape, Default<Kiln_Ints, "{1, 1}">:$strides,
                       Default<Kiln_String, "\"valid\"">:$padding, Default<Kiln_Ints, "{}">:$paddings, Default<Kiln_Ints, "{1, 1}">:$dilations,
                       Default<Kiln_Int, "1">:$groups);
  let options = "Conv2dOptions";
  let dtypes = floats;
  let constraints = ["C1: gradient has the shape of conv2d(x, filter, options) for a filter of `shape`."];
  let shape_rule = [{ return conv2d_backward_filter_type(x, gradient, shape, {strides, padding, paddings, dilations, groups}); }];
  let call = [{ return conv2d_call("conv2d_backward_filter", x, result, gradient, {strides, padding, paddings, dilations, groups}); }];
  let gradient = [{
    const Conv2dOptions options{strides, padding, paddings, dilations, groups};
    return {conv2d_backward_input(dresult, gradient, x.shape(), options), conv2d(x, dresult, options)};
  }];
  let domain = ["-1", "1"];
  let accuracy = "n eps sum|x||gradient|";
  let example = "Tensor dfilter = conv2d_backward_filter(x, dy, filter.shape());";
}

def Kiln_MaxPool2dOp : Kiln_Structured<"max_pool2d"> {
  let summary = "The largest element of each window of x [n, h, w, c]; padding never wins. The gradient goes to the first largest element.";
  let arguments = (ins Kiln_Tensor:$x, Default<Kiln_Ints, "{2, 2}">:$pool_size, Default<Kiln_Ints, "{}">:$strides,
                       Default<Kiln_String, "\"valid\"">:$padding, Default<Kiln_Ints, "{}">:$paddings);
  let options = "Pool2dOptions";
  let dtypes = numbers;
  let constraints = ["C1: x has rank 4; pool_size has two entries >= 1.", "C2: strides has two entries >= 1; none: those of pool_size.", padding_rule];
  let shape_rule = [{ return pool2d_type(x, {pool_size, strides, padding, paddings}); }];
  let call = [{ return pool2d_call("max_pool2d", x, result, {pool_size, strides, padding, paddings}); }];
  let gradient = [{ return {max_pool2d_backward(x, dresult, {pool_size, strides, padding, paddings})}; }];
  let example = "Tensor y = max_pool2d(x, {.pool_size = {2, 2}});";
}

def Kiln_MaxPool2dBackwardOp : Kiln_Structured<"max_pool2d_backward"> {
  let summary = "The gradient of max_pool2d: each element of the result's gradient at the first largest element of its window of x.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Tensor:$gradient, Default<Kiln_Ints, "{2, 2}">:$pool_size, Default<Kiln_Ints, "{}">:$strides,
                       Default<Kiln_String, "\"valid\"">:$padding, Default<Kiln_Ints, "{}">:$paddings);
  let options = "Pool2dOptions";
  let dtypes = floats;
  let constraints = ["C1: gradient has the shape of max_pool2d(x, options)."];
  let shape_rule = [{ return pool2d_backward_type(x, gradient, {pool_size, strides, padding, paddings}); }];
  let call = [{ return pool2d_call("max_pool2d_backward", x, gradient, {pool_size, strides, padding, paddings}); }];
  let non_differentiable = "max_pool2d has a first gradient only";
  let example = "Tensor dx = max_pool2d_backward(x, dy);";
}

def Kiln_AvgPool2dOp : Kiln_Structured<"avg_pool2d"> {
  let summary = "The mean of each window of x [n, h, w, c], over the cells that are not padding.";
  let arguments = (ins Kiln_Tensor:$x, Default<Kiln_Ints, "{2, 2}">:$pool_size, Default<Kiln_Ints, "{}">:$strides,
                       Default<Kiln_String, "\"valid\"">:$padding, Default<Kiln_Ints, "{}">:$paddings);
  let options = "Pool2dOptions";
  let dtypes = floats;
  let constraints = ["C1: x has rank 4; pool_size has two entries >= 1.", "C2: strides has two entries >= 1; none: those of pool_size.", padding_rule];
  let shape_rule = [{ return pool2d_type(x, {pool_size, strides, padding, paddings}); }];
  let call = [{ return pool2d_call("avg_pool2d", x, result, {pool_size, strides, padding, paddings}); }];
  let gradient = [{ return {avg_pool2d_backward(dresult, x.shape(), {pool_size, strides, padding, paddings})}; }];
  let accuracy = "n eps mean|x|";
  let example = "Tensor y = avg_pool2d(x, {.pool_size = {2, 2}});";
}

def Kiln_AvgPool2dBackwardOp : Kiln_Structured<"avg_pool2d_backward"> {
  let summary = "The gradient of avg_pool2d of an x of `shape`: each element of the result's gradient, divided among the cells of its window.";
  let arguments = (ins Kiln_Tensor:$gradient, Kiln_Dims:$shape, Default<Kiln_Ints, "{2, 2}">:$pool_size, Default<Kiln_Ints, "{}">:$strides,
                       Default<Kiln_String, "\"valid\"">:$padding, Default<Kiln_Ints, "{}">:$paddings);
  let options = "Pool2dOptions";
  let dtypes = floats;
  let constraints = ["C1: gradient has the shape of avg_pool2d(x, options) for an x of `shape`."];
  let shape_rule = [{ return pool2d_backward_type({gradient.dtype, shape}, gradient, {pool_size, strides, padding, paddings}); }];
  let call = [{ return pool2d_call("avg_pool2d_backward", result, gradient, {pool_size, strides, padding, paddings}); }];
  let gradient = [{ return {avg_pool2d(dresult, {pool_size, strides, padding, paddings})}; }];
  let accuracy = "n eps mean|gradient|";
  let example = "Tensor dx = avg_pool2d_backward(dy, x.shape());";
}

def Kiln_BiasAddOp : Kiln_Composite<"bias_add"> {
  let summary = "x + bias along the last axis.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Tensor:$bias);
  let dtypes = numbers;
  let constraints = ["C1: bias has rank 1 and the size of x's last axis."];
  let composite = [{
    if (x.rank() < 1 || bias.rank() != 1 || !(bias.shape()[0] == x.shape().back()))
      fail(Code::invalid_argument, "x is " + type_text(x) + " but bias is " + type_text(bias) + ": bias needs the size of x's last axis");
    return x + bias;
  }];
  let numpy = "x + bias";
  let example = "Tensor y = bias_add(conv2d(x, filter), bias);";
}

def Kiln_SoftmaxOp : Kiln_Composite<"softmax"> {
  let summary = "exp(x) divided by its sum along the axis, without overflow; NaN where all x are -inf.";
  let arguments = (ins Kiln_Tensor:$x, Default<Kiln_Int, "-1">:$axis);
  let options = "SoftmaxOptions";
  let dtypes = floats;
  let constraints = ["C1: x has rank >= 1; axis is in [-rank, rank)."];
  let composite = [{
    const Tensor e = exp(x - stop_gradient(reduce_max(x, {{axis}, true})));
    return e / reduce_sum(e, {{axis}, true});
  }];
  let numpy = "sp.softmax(x, axis)";
  let accuracy = "8 ulp";
  let example = "Tensor p = softmax(logits);";
}

def Kiln_LogSoftmaxOp : Kiln_Composite<"log_softmax"> {
  let summary = "log(softmax(x)) along the axis, without overflow; NaN where all x are -inf.";
  let arguments = (ins Kiln_Tensor:$x, Default<Kiln_Int, "-1">:$axis);
  let options = "SoftmaxOptions";
  let dtypes = floats;
  let constraints = ["C1: x has rank >= 1; axis is in [-rank, rank)."];
  let composite = [{
    const Tensor shifted = x - stop_gradient(reduce_max(x, {{axis}, true}));
    return shifted - log(reduce_sum(exp(shifted), {{axis}, true}));
  }];
  let numpy = "sp.log_softmax(x, axis)";
  let accuracy = "4 ulp of max(|result|, 1)";
  let example = "Tensor log_p = log_softmax(logits);";
}

def Kiln_SoftmaxCrossEntropyWithLogitsOp : Kiln_Composite<"softmax_cross_entropy_with_logits"> {
  let summary = "-sum(labels * log_softmax(logits)) along the axis: one loss per row. A label of 0 adds nothing, whatever its logit.";
  let arguments = (ins Kiln_Tensor:$labels, Kiln_Tensor:$logits, Default<Kiln_Int, "-1">:$axis);
  let options = "SoftmaxOptions";
  let dtypes = floats;
  let constraints = ["C1: labels and logits have one shape of rank >= 1; axis is in [-rank, rank)."];
  let composite = [{
    if (!(labels.shape() == logits.shape()))
      fail(Code::invalid_argument, "labels is " + type_text(labels) + " but logits is " + type_text(logits) + ": the shapes must be equal");
    const Tensor log_p = log_softmax(logits, {axis});
    return -reduce_sum(where(equal(labels, 0), zeros_like(log_p), labels * log_p), {{axis}, false});
  }];
  let domain = ["0", "1", "-4", "4"];
  let numpy = "-np.sum(labels * sp.log_softmax(logits, axis), axis)";
  let accuracy = "8 ulp of max(|result|, 1)";
  let example = "Tensor loss = softmax_cross_entropy_with_logits(one_hot(y, 10), logits);";
}

def Kiln_SparseSoftmaxCrossEntropyWithLogitsOp : Kiln_Composite<"sparse_softmax_cross_entropy_with_logits"> {
  let summary = "-log_softmax(logits) at the label of each row: one loss per row.";
  let arguments = (ins Kiln_Tensor:$labels, Kiln_Tensor:$logits);
  let operand_dtypes = ["index"];
  let dtypes = floats;
  let constraints = ["C1: logits is [..., classes] and labels [...].", "C2: 0 <= label < classes, or an error at run time."];
  let composite = [{
    Shape rows = logits.shape();
    if (rows.rank() < 1) fail(Code::invalid_argument, "logits is " + type_text(logits) + ", it needs rank 1 or more");
    rows.erase(rows.rank() - 1);
    if (!(labels.shape() == rows))
      fail(Code::invalid_argument, "labels is " + type_text(labels) + " but logits is " + type_text(logits) + ": labels needs its shape without the last axis");
    const Dim classes = logits.shape().back();
    const Tensor shifted = logits - stop_gradient(reduce_max(logits, {{-1}, true}));
    const Tensor at_label = equal(iota({classes}, {labels.dtype()}), expand_dims(check_range(labels, {classes}), -1));
    const Tensor picked = reduce_sum(where(at_label, shifted, zeros_like(shifted)), {{-1}, false});
    return log(reduce_sum(exp(shifted), {{-1}, false})) - picked;
  }];
  let domain = ["0", "1", "-4", "4"];
  let numpy = "-np.take_along_axis(sp.log_softmax(logits, -1), labels[..., None], -1)[..., 0]";
  let accuracy = "4 ulp of max(|result|, 1)";
  let example = "Tensor loss = mean(sparse_softmax_cross_entropy_with_logits(labels, logits));";
}

def Kiln_SigmoidCrossEntropyWithLogitsOp : Kiln_Composite<"sigmoid_cross_entropy_with_logits"> {
  let summary = "-labels * log(sigmoid(logits)) - (1 - labels) * log(1 - sigmoid(logits)), without overflow.";
  let arguments = (ins Kiln_Tensor:$labels, Kiln_Tensor:$logits);
  let dtypes = floats;
  let composite = [{ return softplus(logits) - logits * labels; }];
  let domain = ["0", "1", "-20", "20"];
  let numpy = "np.logaddexp(logits, 0) - logits * labels";
  let accuracy = "4 ulp of max(|logits|, 1)";
  let example = "Tensor loss = sigmoid_cross_entropy_with_logits(labels, logits);";
}

def Kiln_DropoutOp : Kiln_Composite<"dropout"> {
  let summary = "Zero with probability `rate`, else x / (1 - rate). The choice depends on seed (i64[2]) and the element's number alone.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Tensor:$seed, Kiln_Float:$rate);
  let operand_dtypes = ["T", "i64"];
  let dtypes = floats;
  let constraints = ["C1: 0 <= rate <= 1; rate 0 gives x, rate 1 zeros.", "C2: seed is i64[2]."];
  let composite = [{
    if (!(rate >= 0 && rate <= 1)) fail(Code::invalid_argument, "rate is " + std::to_string(rate) + ", it must be in [0, 1]");
    if (rate == 0) return identity(x);
    if (rate == 1) return zeros_like(x);
    const Tensor keep = greater_equal(stateless_random_uniform(seed, x.shape()), static_cast<float>(rate));
    return where(keep, x * (1 / (1 - rate)), zeros_like(x));
  }];
  let example = "Tensor y = dropout(x, Tensor{int64_t{1}, int64_t{2}}, 0.4);";
}

def Kiln_LayerNormalizationOp : Kiln_Composite<"layer_normalization"> {
  let summary = "(x - mean) / sqrt(variance + epsilon) * scale + offset, with mean and variance of x along the axes.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Tensor:$scale, Kiln_Tensor:$offset, Default<Kiln_Ints, "{-1}">:$axis, Default<Kiln_Float, "1e-3">:$epsilon);
  let dtypes = floats;
  let constraints = ["C1: each axis is in [-rank, rank).", "C2: scale and offset broadcast to x."];
  let composite = [{
    const Tensor centered = x - reduce_mean(x, {axis, true});
    const Tensor variance = reduce_mean(square(centered), {axis, true});
    return centered * rsqrt(variance + epsilon) * scale + offset;
  }];
  let accuracy = "32 ulp of max(|result|, 1)";
  let example = "Tensor y = layer_normalization(x, scale, offset);";
}

def Kiln_BatchNormalizationOp : Kiln_Composite<"batch_normalization"> {
  let summary = "(x - mean) / sqrt(variance + epsilon) * scale + offset, with the given mean and variance.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Tensor:$mean, Kiln_Tensor:$variance, Kiln_Tensor:$offset, Kiln_Tensor:$scale, Default<Kiln_Float, "1e-3">:$epsilon);
  let dtypes = floats;
  let constraints = ["C1: all operands broadcast to x."];
  let composite = [{ return (x - mean) * (rsqrt(variance + epsilon) * scale) + offset; }];
  let domain = ["-4", "4", "-1", "1", "0.5", "2", "-1", "1"];
  let numpy = "(x - mean) * (scale / np.sqrt(variance + epsilon)) + offset";
  let accuracy = "16 ulp of max(|result|, 1)";
  let example = "Tensor y = batch_normalization(x, mean, variance, offset, scale);";
}

#endif
