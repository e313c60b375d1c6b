//! How much of a column is kept: by a whole table, and by sub-tables.

use scumble::error::Result;
use scumble::method::perturb::{Limits, Operator, uniform};
use scumble::promise::Breaches;

use crate::census::{self, Census, OCCUPATION};
use crate::chart::Scale;
use crate::compared::{COLUMNS, Compared, figure};
use crate::outcome::{Claim, Outcome};
use crate::perturbed::{mean, parts, protected, tenths, whole};
use crate::{Data, Experiment, RequiredData};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "perturbation-retention",
    source: "chaytor2010randomization, Tables 1, 3 and 4",
    about: "how likely a value is kept, by the whole table and by sub-tables",
    needs: RequiredData::Data,
    run,
};

/// Table 1: domain sizes, p and q for gamma = 5, in percent.
const SIZES: [u32; 8] = [77, 70, 50, 14, 9, 7, 6, 2];
const P: [f64; 8] = [5.0, 5.0, 7.0, 22.0, 31.0, 36.0, 40.0, 67.0];
const Q: [f64; 8] = [1.0, 1.0, 2.0, 6.0, 8.0, 9.0, 10.0, 17.0];

/// Table 3: the largest belief after is 1/L; p in percent.
const LS: [f64; 4] = [6.0, 5.0, 4.0, 3.0];
const UP: [f64; 4] = [2.9, 4.0, 5.9, 9.4];
const PP: [f64; 4] = [9.0, 12.3, 17.3, 25.7];

/// Table 4: groups at first, sub-tables, mean domain size and mean gamma by |T|.
const GROUPS: [f64; 5] = [17.0, 18.0, 19.0, 20.0, 20.0];
const SUBTABLES: [f64; 5] = [15.0, 8.0, 10.0, 11.0, 12.0];
const MEAN_SIZE: [f64; 5] = [15.0, 20.9, 17.3, 17.0, 18.4];
const MEAN_GAMMA: [f64; 5] = [2.6, 2.7, 2.6, 2.6, 2.8];

/// The largest belief before: a little above the most frequent occupation of the source,
/// and of the records that stand in for them.
const PRIOR: f64 = 1.0 / 13.0;
const PRIOR_ACS: f64 = 1.0 / 11.0;

/// What one partition is like.
struct PartitionShape {
    groups: f64,
    subtables: f64,
    size: f64,
    gamma: f64,
    /// Mean probability to keep, over sub-tables and over rows.
    keep: f64,
    keep_of_rows: f64,
    bound: f64,
    order: &'static str,
}

fn run(data: &Data) -> Result<Outcome> {
    let folder = data.folder()?;
    let counts = census::counts(folder, "occ100k_counts.csv")?;
    let acs = Census::if_any(folder)?;
    let mut compared = table1();

    let of_l: Vec<PartitionShape> = LS
        .into_iter()
        .map(|l| shape(&counts, PRIOR, 1.0 / l))
        .collect::<Result<_>>()?;
    let up =
        LS.map(|l| 100.0 * whole(&counts, &protected(&counts, PRIOR, 1.0 / l)).keep());
    compared.push(by_l("p of UP, % (counts of OCC-100k)", &UP, &up));
    let pp: Vec<f64> = of_l.iter().map(|shape| 100.0 * shape.keep).collect();
    compared.push(by_l("mean p of PP, % (counts of OCC-100k)", &PP, &pp));
    let retention = compared.len() - 1;

    // The first from the source's own counts, the rest from samples of our records.
    let mut of_t = vec![shape(&counts, PRIOR, 1.0 / 6.0)?];
    let mut notes = vec![format!(
        "OCC-100k: {} (bound {:.4}, order: {}); p over rows instead of sub-tables: {}.",
        "the frequencies of the source's own table of 100,000 rows",
        of_t[0].bound,
        of_t[0].order,
        of_l.iter().map(|s| tenths(s.keep_of_rows)).collect::<Vec<_>>().join(", ")
    )];
    if let Some(acs) = &acs {
        for fifths in 2..=5 {
            let counts = acs.counts(OCCUPATION, fifths);
            of_t.push(shape(&counts, PRIOR_ACS, 1.0 / 6.0)?);
        }
        notes.push(
            "The larger tables are samples of ACS 2018, not of the source's CENSUS, whose \
             records were never published: the most frequent occupation has 8.4 %, so \
             that rho1 is 1/11 to protect all, where the source has 1/13."
                .to_owned(),
        );
    } else {
        notes.push(
            "`acs_occ_500k.csv` is not in the folder (unpack `acs_occ_500k.csv.xz` first): \
             of Table 4 only 100k is shown."
                .to_owned(),
        );
    }
    notes.push(String::new());
    let of = |measure: fn(&PartitionShape) -> f64| {
        of_t.iter().map(measure).collect::<Vec<f64>>()
    };
    compared.push(by_t("initial groups t", &GROUPS, &of(|shape| shape.groups)));
    compared.push(by_t("sub-tables", &SUBTABLES, &of(|shape| shape.subtables)));
    compared.push(by_t("mean domain size", &MEAN_SIZE, &of(|shape| shape.size)));
    compared.push(by_t("mean gamma", &MEAN_GAMMA, &of(|shape| shape.gamma)));

    let mut claims: Vec<Claim> = compared[..2].iter().map(rounded).collect();
    claims.push(compared[retention - 1].claim(0.98, 1.02));
    claims.push(compared[retention].claim(1.0, f64::INFINITY));
    let gains: Vec<f64> = pp.iter().zip(up).map(|(pp, up)| pp / up - 1.0).collect();
    let least = gains.iter().copied().fold(f64::INFINITY, f64::min);
    claims.push(Claim::new(
        "a relative increase of more than 100 % in the retention probability",
        format!("at least {}", tenths(least)),
        least > 1.0,
    ));
    claims.push(Claim::new(
        "17 initial groups in OCC-100k",
        format!("{}", of_t[0].groups),
        (of_t[0].groups - 17.0).abs() < 0.5,
    ));
    let rows = compared.iter().flat_map(Compared::rows).collect();
    let panels =
        compared.iter().map(|compared| compared.panel(Scale::Linear)).collect();
    let figure = figure("Retention, the source and ours", panels);
    Ok(Outcome::new(COLUMNS, rows, claims, figure).noting(notes))
}

fn table1() -> Vec<Compared> {
    let operators = SIZES.map(|size| {
        let gammas = vec![5.0; size as usize];
        uniform(Limits { gammas: &gammas, breaches: Breaches::Both })
    });
    let shares = operators.map(|operator| match operator {
        Operator::Uniform { keep, size } => (keep, (1.0 - keep) / size as f64),
        _ => (f64::NAN, f64::NAN),
    });
    let row = |quantity: &str, source: [f64; 8], ours: [f64; 8]| Compared {
        table: "Table 1",
        quantity: quantity.to_owned(),
        across: "m",
        settings: SIZES.map(|size| size.to_string()).to_vec(),
        source: source.map(Some).to_vec(),
        ours: ours.map(|share| Some(100.0 * share)).to_vec(),
    };
    vec![row("p, %", P, shares.map(|(p, _)| p)), row("q, %", Q, shares.map(|(_, q)| q))]
}

/// The source prints whole percents.
fn rounded(compared: &Compared) -> Claim {
    let claim = compared.claim(0.0, f64::INFINITY);
    let pairs = compared.source.iter().zip(&compared.ours);
    let agrees = pairs.filter_map(|(source, ours)| {
        Some((*source)?.to_bits() == (*ours)?.round().to_bits())
    });
    Claim { agrees: agrees.into_iter().all(|same| same), ..claim }
}

fn by_l(quantity: &str, source: &[f64], ours: &[f64]) -> Compared {
    Compared {
        table: "Table 3",
        quantity: quantity.to_owned(),
        across: "L",
        settings: LS.map(|l| l.to_string()).to_vec(),
        source: source.iter().copied().map(Some).collect(),
        ours: ours.iter().copied().map(Some).collect(),
    }
}

/// Sizes for which there is nothing of ours stay empty.
fn by_t(quantity: &str, source: &[f64], ours: &[f64]) -> Compared {
    Compared {
        table: "Table 4",
        quantity: quantity.to_owned(),
        across: "|T|",
        settings: (1..=5).map(|fifths| format!("{fifths}00k")).collect(),
        source: source.iter().copied().map(Some).collect(),
        ours: (0..source.len()).map(|place| ours.get(place).copied()).collect(),
    }
}

fn shape(counts: &[u64], prior: f64, posterior: f64) -> Result<PartitionShape> {
    let (partition, parts) = parts(counts, &protected(counts, prior, posterior))?;
    let of = |measure: &dyn Fn(usize) -> f64| {
        let values: Vec<f64> = (0..parts.len()).map(measure).collect();
        mean(&values).unwrap_or(f64::NAN)
    };
    let n: u64 = counts.iter().sum();
    let kept =
        parts.iter().map(|part| part.keep() * part.counts.iter().sum::<u64>() as f64);
    Ok(PartitionShape {
        groups: partition.n_initial as f64,
        subtables: parts.len() as f64,
        size: of(&|place| parts[place].codes.len() as f64),
        gamma: of(&|place| parts[place].gamma),
        keep: of(&|place| parts[place].keep()),
        keep_of_rows: kept.sum::<f64>() / n as f64,
        bound: partition.bound,
        order: partition.order,
    })
}
