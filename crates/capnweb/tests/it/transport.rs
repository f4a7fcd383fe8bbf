//! Real sockets that behave well and badly, against a real listener.

mod batch;
mod drain;
mod gather;
mod guests;
mod liveness;
mod origin;
mod parking;
mod sizes;
mod survival;
