//! Part kinds by formula.
