//! What may be published of an audit.
//!
//! # Guarantee
//! A [`Public`] can only be made by stating why it may be published; nothing private becomes
//! public by forgetting to remove it.

use std::collections::BTreeMap;
use std::ops::Deref;

use crate::audit::{Attacked, Checked, NotApplicable, Report, Risk, Width};

/// Something that may be published.
#[derive(Debug, Clone)]
pub struct Public<T>(T);

impl<T> Public<T> {
    /// States that `value` may be published, `because` of what it was computed from.
    pub(super) fn because(_because: &'static str, value: T) -> Self {
        Self(value)
    }
}

impl<T> Deref for Public<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Every part of a report, each stated to be public.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) rows: Public<u64>,
    pub(super) promises: Vec<Public<Checked>>,
    pub(super) attacks: Vec<Public<Vec<Attacked>>>,
    pub(super) not_applicable: Public<Vec<NotApplicable>>,
    pub(super) loss: Public<BTreeMap<String, f64>>,
    pub(super) group_sizes: Public<Vec<(u64, u64)>>,
    pub(super) risks: Public<Vec<Risk>>,
    pub(super) widths: Public<Vec<Width>>,
}

impl Public<Report> {
    /// A report of public parts.
    pub(super) fn of_report(parts: Parts) -> Self {
        Self(Report {
            rows: parts.rows.0,
            promises: parts.promises.into_iter().map(|promise| promise.0).collect(),
            attacks: parts.attacks.into_iter().flat_map(|attacks| attacks.0).collect(),
            not_applicable: parts.not_applicable.0,
            loss: parts.loss.0,
            group_sizes: parts.group_sizes.0,
            risks: parts.risks.0,
            widths: parts.widths.0,
        })
    }
}
