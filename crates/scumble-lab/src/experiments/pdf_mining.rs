//! Rules found again in tables drawn from k-anonymous releases, by kind of cell.

use scumble::error::Result;
use scumble::hierarchy::{Column, ColumnSpec, Microdata};
use scumble::loss::Loss;
use scumble::method::{Grouping, Mondrian, Weighting};
use scumble::promise::KAnonymity;
use scumble::table::{Code, GroupId};
use scumble::text::short;

use crate::adult::Adult;
use crate::chart::{Figure, Form, Mark, Panel, Scale, Series};
use crate::mined::{Errors, Miner, WeightedCell, even};
use crate::outcome::{Claim, Outcome};
use crate::private::How;
use crate::{Data, Experiment, RequiredData};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "pdf-mining",
    source: "nergiz2007pdf, Figure 3",
    about: "rules found again in tables drawn from k-anonymous groups, by kind of cell",
    needs: RequiredData::Data,
    run,
};

const COLUMNS: &str = "method,k,cells,association_error,class_error";

/// The quasi columns besides age, which is in ten classes.
const SEVEN: [&str; 7] = [
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
];

const KS: [u64; 8] = [2, 5, 10, 20, 50, 100, 200, 500];

/// What is published for a group; the first is what the method itself makes.
const KINDS: [GroupRelease; 5] = [
    GroupRelease::Own,
    GroupRelease::Set,
    GroupRelease::Shifted(1),
    GroupRelease::Shifted(2),
    GroupRelease::Pdf,
];

#[derive(Debug, Clone, Copy, PartialEq)]
enum GroupRelease {
    /// The node or range that the method makes.
    Own,
    /// The values that occur, evenly.
    Set,
    /// So many thirds of the way from there to how often they occur.
    Shifted(u32),
    /// How often they occur.
    Pdf,
}

fn run(data: &Data) -> Result<Outcome> {
    let adult = Adult::read(data)?.with_age_classes()?;
    let mut specs: Vec<ColumnSpec> = vec![Adult::age_class_spec()?];
    specs.extend(adult.specs(&SEVEN)?);
    specs.push(adult.class_spec()?);
    let data = adult.count(None, &specs)?;
    let miner = Miner::new(&data)?;
    let methods = [
        ("full-domain", How::FullDomain(Loss::by_name("loss")?)),
        ("mondrian", How::Mondrian(Mondrian::default())),
    ];
    let mut rows = Vec::new();
    let mut panels = Vec::new();
    // For each method and kind of cell the errors of every k.
    let mut all: Vec<Vec<Vec<Errors>>> = Vec::new();
    for (method, how) in methods {
        let columns = how.columns(&data);
        let mut lines = vec![Vec::new(); KINDS.len()];
        for k in KS {
            let promise = Box::new(KAnonymity::new(k)?);
            let grouping = how.find(&columns, &data.census, promise)?;
            for (kind, line) in KINDS.into_iter().zip(&mut lines) {
                let errors = errors(&miner, &data, &columns, &grouping, kind)?;
                let name = name(kind, method == "mondrian");
                rows.push(vec![
                    method.into(),
                    k.into(),
                    name.into(),
                    errors.association.into(),
                    errors.class.into(),
                ]);
                line.push(errors);
            }
        }
        for (what, measure) in [
            ("association rules", (|errors| errors.association) as fn(&Errors) -> f64),
            ("class rules", |errors| errors.class),
        ] {
            panels.push(Panel::new(
                format!("{what}, {method}"),
                ("k", KS.map(|k| k.to_string()).to_vec()),
                ("error", Scale::Linear, Form::Lines),
                lines
                    .iter()
                    .map(|line| line.iter().map(|e| Some(measure(e))).collect())
                    .collect(),
            ));
        }
        all.push(lines);
    }
    let names = ["node or range", "set", "INTER2 (1 of 3)", "INTER1 (2 of 3)", "pdf"];
    let series = Series::each(names, [4, 0, 6, 5, 1], Mark::Circle);
    let [association, class] = miner.n_rules();
    let title = format!(
        "Error of rules found in drawn tables ({association} association, {class} class \
         rules in Adult)"
    );
    let figure = Figure::new(title, series, panels);
    Ok(Outcome::new(COLUMNS, rows, claims(&all), figure))
}

fn name(kind: GroupRelease, by_ranges: bool) -> &'static str {
    match kind {
        GroupRelease::Own if by_ranges => "interval",
        GroupRelease::Own => "taxonomy",
        GroupRelease::Set => "set",
        GroupRelease::Shifted(1) => "INTER2",
        GroupRelease::Shifted(_) => "INTER1",
        GroupRelease::Pdf => "pdf",
    }
}

fn errors(
    miner: &Miner,
    data: &Microdata,
    columns: &[Column],
    grouping: &Grouping,
    kind: GroupRelease,
) -> Result<Errors> {
    let own = grouping.weighted(columns, &data.census, Weighting::Own);
    let cell = |group: GroupId, place: usize| -> WeightedCell {
        let column = &columns[place];
        let cover = &grouping.covers[group][place];
        let own = &own[group][place].values;
        let thirds = match kind {
            GroupRelease::Own => {
                return even(cover.codes(&column.domain, &column.hierarchy));
            }
            GroupRelease::Set => 0,
            GroupRelease::Shifted(thirds) => thirds,
            GroupRelease::Pdf => 3,
        };
        towards(own, thirds)
    };
    miner.errors(&miner.groups(data, grouping, cell)?)
}

/// Even weights, shifted by so many thirds towards `own`.
fn towards(own: &[(Code, f64)], thirds: u32) -> WeightedCell {
    let far = f64::from(thirds) / 3.0;
    let even = 1.0 / own.len() as f64;
    own.iter().map(|(code, own)| (code.get(), even + far * (own - even))).collect()
}

fn claims(all: &[Vec<Vec<Errors>>]) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (what, measure) in [
        ("association", (|errors| errors.association) as fn(&Errors) -> f64),
        ("class", |errors| errors.class),
    ] {
        let (mut closest, mut in_order, mut of) = (0, 0, 0);
        let (mut sets, mut pdfs) = (0.0, 0.0);
        for lines in all {
            for place in 0..KS.len() {
                let errors: Vec<f64> =
                    lines.iter().map(|line| measure(&line[place])).collect();
                of += 1;
                closest +=
                    usize::from(errors[..4].iter().all(|other| errors[4] < *other));
                in_order += usize::from(errors[1..].is_sorted_by(|a, b| a >= b));
                sets += errors[1];
                pdfs += errors[4];
            }
        }
        claims.push(Claim::new(
            format!("pdf reconstruction is much closer to the original by {what} rules"),
            format!(
                "pdf cells have the smallest error in {closest} of {of} cases; in sum {} \
                 against {} of sets",
                short(pdfs),
                short(sets)
            ),
            10 * closest >= 9 * of,
        ));
        claims.push(Claim::new(
            format!(
                "as distributions get closer to uniform, the error of {what} rules \
                 increases for nearly all k"
            ),
            format!(
                "pdf, INTER1, INTER2, set in this order in {in_order} of {of} cases"
            ),
            10 * in_order >= 8 * of,
        ));
    }
    claims
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figure 2 of the source: Europe, three quarters Italy and one quarter Britain.
    #[test]
    fn weights_are_shifted_in_thirds() {
        let own = [(0, 0.75), (1, 0.25), (2, 0.0)];
        let own = own.map(|(code, weight)| (Code::new(code), weight));
        let shares = |thirds| {
            let cell = towards(&own, thirds);
            cell.iter().map(|(_, weight)| format!("{weight:.2}")).collect::<Vec<_>>()
        };
        assert_eq!(shares(0), ["0.33", "0.33", "0.33"]);
        assert_eq!(shares(1), ["0.47", "0.31", "0.22"]);
        assert_eq!(shares(2), ["0.61", "0.28", "0.11"]);
        assert_eq!(shares(3), ["0.75", "0.25", "0.00"]);
    }
}
