//! What the engine with a file promises beyond the contract.
