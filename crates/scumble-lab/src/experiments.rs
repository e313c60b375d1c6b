//! Every experiment: a file each, named as on the command line.

mod blur_classification;
mod blur_queries;
mod bucket_queries;
mod calibration;
mod coverage;
mod delta_bound;
mod fine_grain_downward;
mod fine_grain_utility;
mod mpalm_boxes;
mod pdf_counts;
mod pdf_mining;
mod pdf_presence;
mod perturbation_queries;
mod perturbation_retention;
mod perturbation_runtime;
mod perturbation_zipf;
mod presence_grid;
mod presence_k;
mod presence_n2;
mod presence_strategies;
mod presence_vs_k;

use crate::Experiment;

/// Every experiment, in the order of the sources.
pub const EXPERIMENTS: &[Experiment] = &[
    mpalm_boxes::EXPERIMENT,
    pdf_counts::EXPERIMENT,
    presence_k::EXPERIMENT,
    presence_vs_k::EXPERIMENT,
    presence_strategies::EXPERIMENT,
    presence_grid::EXPERIMENT,
    presence_n2::EXPERIMENT,
    pdf_mining::EXPERIMENT,
    pdf_presence::EXPERIMENT,
    delta_bound::EXPERIMENT,
    fine_grain_downward::EXPERIMENT,
    perturbation_retention::EXPERIMENT,
    perturbation_queries::EXPERIMENT,
    perturbation_zipf::EXPERIMENT,
    perturbation_runtime::EXPERIMENT,
    fine_grain_utility::EXPERIMENT,
    bucket_queries::EXPERIMENT,
    calibration::EXPERIMENT,
    blur_queries::EXPERIMENT,
    blur_classification::EXPERIMENT,
    coverage::EXPERIMENT,
];
