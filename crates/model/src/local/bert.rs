//! The encoder of BERT, one text at a time: without padding there is nothing to mask, and on a CPU a batch gains less than
//! its padding costs. `candle-transformers` has it, too, with fifty other networks to compile.

use std::collections::HashMap;

use candle_core::{D, DType, Device, Result, Tensor};
use serde::Deserialize;

/// The shape of the network, from its `config.json`.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Shape {
    hidden_size: usize,
    num_attention_heads: usize,
    num_hidden_layers: usize,
    layer_norm_eps: f64,
    max_position_embeddings: usize,
}

/// The weights and shape of a network.
pub(super) struct Bert {
    shape: Shape,
    words: Tensor,
    positions: Tensor,
    /// The segment embedding of a single text.
    alone: Tensor,
    norm: Norm,
    layers: Vec<Layer>,
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    attended: Linear,
    attended_norm: Norm,
    widened: Linear,
    narrowed: Linear,
    norm: Norm,
}

impl Bert {
    /// Reads weights in the safetensors format.
    pub(super) fn read(shape: &Shape, weights: &[u8]) -> Result<Self> {
        let tensors = candle_core::safetensors::load_buffer(weights, &Device::Cpu)?;
        let weights = Weights { tensors, shape };
        let layers = (0..shape.num_hidden_layers).map(|at| weights.layer(at));
        let types = weights.get("embeddings.token_type_embeddings.weight")?;
        Ok(Self {
            words: weights.get("embeddings.word_embeddings.weight")?,
            positions: weights.get("embeddings.position_embeddings.weight")?,
            alone: types.get(0)?,
            norm: weights.norm("embeddings.LayerNorm")?,
            layers: layers.collect::<Result<_>>()?,
            shape: shape.clone(),
        })
    }

    /// The mean of the last layer over all tokens.
    pub(super) fn mean(&self, tokens: &[u32]) -> Result<Vec<f32>> {
        let most = tokens.len().min(self.shape.max_position_embeddings);
        if most == 0 {
            return Ok(vec![0.0; self.shape.hidden_size]);
        }
        let tokens = Tensor::new(&tokens[..most], &Device::Cpu)?;
        let words = self.words.index_select(&tokens, 0)?;
        let placed = (words + self.positions.narrow(0, 0, most)?)?;
        let mut hidden = self.norm.apply(&placed.broadcast_add(&self.alone)?)?;
        for layer in &self.layers {
            hidden = layer.apply(&hidden, &self.shape)?;
        }
        hidden.mean(0)?.to_vec1()
    }
}

impl Layer {
    fn apply(&self, hidden: &Tensor, shape: &Shape) -> Result<Tensor> {
        let (tokens, size) = hidden.dims2()?;
        let heads = shape.num_attention_heads;
        let width = size / heads;
        // Each head sees its own part of every token.
        let split = |it: Tensor| {
            it.reshape((tokens, heads, width))?
                .transpose(0, 1)?
                .contiguous()
        };
        let query = split(self.query.apply(hidden)?)?;
        let key = split(self.key.apply(hidden)?)?;
        let value = split(self.value.apply(hidden)?)?;
        let scores = (query.matmul(&key.t()?.contiguous()?)? * (width as f64).sqrt().recip())?;
        let attended = softmax(&scores)?.matmul(&value)?;
        let attended = attended.transpose(0, 1)?.reshape((tokens, size))?;
        let attended = (self.attended.apply(&attended)? + hidden)?;
        let hidden = self.attended_norm.apply(&attended)?;
        let widened = self.widened.apply(&hidden)?.gelu_erf()?;
        self.norm.apply(&(self.narrowed.apply(&widened)? + hidden)?)
    }
}

/// Softmax: scores as shares of one.
fn softmax(scores: &Tensor) -> Result<Tensor> {
    let shifted = scores
        .broadcast_sub(&scores.max_keepdim(D::Minus1)?)?
        .exp()?;
    shifted.broadcast_div(&shifted.sum_keepdim(D::Minus1)?)
}

struct Linear {
    /// Transposed, ready for multiplication.
    weight: Tensor,
    bias: Tensor,
}

impl Linear {
    fn apply(&self, input: &Tensor) -> Result<Tensor> {
        input.matmul(&self.weight)?.broadcast_add(&self.bias)
    }
}

struct Norm {
    weight: Tensor,
    bias: Tensor,
    least: f64,
}

impl Norm {
    fn apply(&self, input: &Tensor) -> Result<Tensor> {
        let centred = input.broadcast_sub(&input.mean_keepdim(D::Minus1)?)?;
        let variance = centred.sqr()?.mean_keepdim(D::Minus1)?;
        let scaled = centred.broadcast_div(&(variance + self.least)?.sqrt()?)?;
        scaled
            .broadcast_mul(&self.weight)?
            .broadcast_add(&self.bias)
    }
}

struct Weights<'a> {
    tensors: HashMap<String, Tensor>,
    shape: &'a Shape,
}

impl Weights<'_> {
    fn get(&self, name: &str) -> Result<Tensor> {
        // Some files put the name of the network before each weight.
        let found = self
            .tensors
            .get(name)
            .or_else(|| self.tensors.get(&format!("bert.{name}")));
        match found {
            Some(tensor) => tensor.to_dtype(DType::F32),
            None => Err(candle_core::Error::Msg(format!(
                "no tensor {name:?} in the weights"
            ))),
        }
    }

    fn linear(&self, name: &str) -> Result<Linear> {
        Ok(Linear {
            weight: self.get(&format!("{name}.weight"))?.t()?.contiguous()?,
            bias: self.get(&format!("{name}.bias"))?,
        })
    }

    fn norm(&self, name: &str) -> Result<Norm> {
        Ok(Norm {
            weight: self.get(&format!("{name}.weight"))?,
            bias: self.get(&format!("{name}.bias"))?,
            least: self.shape.layer_norm_eps,
        })
    }

    fn layer(&self, at: usize) -> Result<Layer> {
        let name = |part: &str| format!("encoder.layer.{at}.{part}");
        Ok(Layer {
            query: self.linear(&name("attention.self.query"))?,
            key: self.linear(&name("attention.self.key"))?,
            value: self.linear(&name("attention.self.value"))?,
            attended: self.linear(&name("attention.output.dense"))?,
            attended_norm: self.norm(&name("attention.output.LayerNorm"))?,
            widened: self.linear(&name("intermediate.dense"))?,
            narrowed: self.linear(&name("output.dense"))?,
            norm: self.norm(&name("output.LayerNorm"))?,
        })
    }
}
