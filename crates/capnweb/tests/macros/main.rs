//! The macros, as their users meet them.

mod described;
mod hygiene;
mod impls;
mod joined;
mod refused;
mod traits;
mod values;
