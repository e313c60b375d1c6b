//! Whether promises, method and its keys go together where values are randomized.

use crate::error::{Error, Result};
use crate::promise::Breaches;
use crate::recipe::section::listed;
use crate::recipe::{MethodName, PromiseKind, PromiseSpec, Spec, Spot};
use crate::table::Role;

/// Whether a recipe asks for randomized values.
pub(in crate::recipe) fn randomizes(spec: &Spec) -> bool {
    spec.method.name.is_some_and(MethodName::randomizes)
        || spec.promises.iter().any(|promise| promise.kind.randomizes())
}

/// The methods that keep a promise.
fn keepers(kind: &PromiseKind) -> Vec<&'static str> {
    use MethodName::{
        Anatomy, Blur, Condensation, FineGrainPerturbation, FullDomain,
        GeneralPerturbation, Mondrian, PartitionedPerturbation,
        PerturbedGeneralization, Robust, UniformPerturbation,
    };
    let methods: &[MethodName] = match kind {
        PromiseKind::KAnonymity { .. } => {
            &[FullDomain, Mondrian, PerturbedGeneralization]
        }
        PromiseKind::LDiversity { .. } | PromiseKind::TCloseness { .. } => {
            &[FullDomain, Mondrian, Anatomy, Robust]
        }
        PromiseKind::DeltaPresence { .. } => &[FullDomain, Mondrian],
        PromiseKind::RRobustness(_) => &[Robust],
        PromiseKind::ExpectedAnonymity(_) => &[Blur, Condensation],
        PromiseKind::Breach(_) | PromiseKind::FineGrain { .. } => {
            match breaches(kind) {
                Some(Breaches::Both) => &[
                    UniformPerturbation,
                    FineGrainPerturbation,
                    GeneralPerturbation,
                    PerturbedGeneralization,
                ],
                _ => &[
                    UniformPerturbation,
                    PartitionedPerturbation,
                    FineGrainPerturbation,
                    GeneralPerturbation,
                    PerturbedGeneralization,
                ],
            }
        }
    };
    methods.iter().map(|method| method.name()).collect()
}

/// Whether a method keeps every promise of a recipe; `spot` is where the method stands, if
/// it is named.
pub(in crate::recipe) fn check_kept(
    spec: &Spec,
    method: MethodName,
    spot: Spot,
) -> Result<()> {
    for promise in &spec.promises {
        let keepers = keepers(&promise.kind);
        if !keepers.contains(&method.name()) {
            let error = Error::recipe(format!(
                "`{}` cannot keep `{}`",
                method.name(),
                promise.kind.name()
            ));
            let named = spec.method.name.is_some();
            return Err(spec.error_at(
                if named { spot } else { promise.spot },
                error.with_hint(format!("these can: {}", listed(&keepers))),
            ));
        }
    }
    Ok(())
}

fn breaches(kind: &PromiseKind) -> Option<Breaches> {
    match kind {
        PromiseKind::Breach(breach) => Some(breach.breaches()),
        PromiseKind::FineGrain { breaches, .. } => Some(*breaches),
        _ => None,
    }
}

/// The promise about randomized values; a recipe that was checked has one.
pub(in crate::recipe) fn promise(spec: &Spec) -> Option<&PromiseSpec> {
    spec.promises.iter().find(|promise| promise.kind.randomizes())
}

/// The method of a recipe that randomizes values.
pub(in crate::recipe) fn check(spec: &Spec) -> Result<MethodName> {
    let at = |spot: Spot, error| spec.error_at(spot, error);
    let mut about_noise = spec.promises.iter().filter(|p| p.kind.randomizes());
    let (first, second) = (about_noise.next(), about_noise.next());
    if let (Some(_), Some(second)) = (first, second) {
        let error =
            Error::recipe("`breach` and `fine-grain` both bound what is learned")
                .with_hint(
                    "promise one of them; a `fine-grain` bound can be the same for all",
                );
        return Err(at(second.spot, error));
    }
    let method = spec.method.name.unwrap_or_else(|| natural(spec, first));
    let spot = spec.method.spot.or(first.map(|promise| promise.spot));
    let spot = spot.unwrap_or(spec.input.table_spot);
    let Some(first) = first else {
        let error = Error::recipe(format!(
            "`{}` needs to know what nobody may learn",
            method.name()
        ));
        return Err(at(spot, error.with_hint("promise `breach` or `fine-grain`")));
    };
    for promise in &spec.promises {
        let keepers = keepers(&promise.kind);
        if !keepers.contains(&method.name()) {
            let both = match breaches(&promise.kind) {
                Some(Breaches::Both) if method.randomizes() => {
                    " with `kind = \"both\"`"
                }
                _ => "",
            };
            let error = Error::recipe(format!(
                "`{}` cannot keep `{}`{both}",
                method.name(),
                promise.kind.name()
            ));
            let error = error.with_hint(format!("these can: {}", listed(&keepers)));
            return Err(at(
                if spec.method.name.is_some() { spot } else { promise.spot },
                error,
            ));
        }
    }
    let grouped = method == MethodName::PerturbedGeneralization;
    let k =
        spec.promises.iter().any(|p| matches!(p.kind, PromiseKind::KAnonymity { .. }));
    if grouped && !k {
        let error = Error::recipe(
            "`perturbed-generalization` needs `k-anonymity`: one row of each group is \
             published",
        );
        return Err(at(
            spot,
            error.with_hint("promise `k-anonymity = 5`, or the like"),
        ));
    }
    if let (Some((name, spot)), false) = (spec.method.groups.first(), grouped) {
        let error = Error::recipe(format!(
            "`{name}` is for methods that form groups, but `{}` forms none",
            method.name()
        ));
        return Err(at(*spot, error));
    }
    check_keys(spec, method)?;
    check_columns(spec, first, grouped)?;
    Ok(method)
}

/// The method that suits promise and keys, if the recipe names none.
fn natural(spec: &Spec, first: Option<&PromiseSpec>) -> MethodName {
    let noise = &spec.method.noise;
    let groups = spec.promises.iter().any(|promise| !promise.kind.randomizes());
    match first.map(|promise| &promise.kind) {
        _ if groups => MethodName::PerturbedGeneralization,
        _ if noise.inside.is_some() => MethodName::PartitionedPerturbation,
        _ if noise.floor.is_some() => MethodName::GeneralPerturbation,
        Some(PromiseKind::FineGrain { .. }) => MethodName::FineGrainPerturbation,
        _ => MethodName::UniformPerturbation,
    }
}

/// Keys of `[method]` that another method would understand.
fn check_keys(spec: &Spec, method: MethodName) -> Result<()> {
    let noise = &spec.method.noise;
    let only = |key: &str, owner: MethodName, spot: Option<Spot>| match spot {
        Some(spot) if owner != method => {
            let error = Error::recipe(format!("`{key}` is for `{}`", owner.name()));
            Err(spec.error_at(spot, error))
        }
        _ => Ok(()),
    };
    let inside = noise.inside.map(|(_, spot)| spot);
    only("inside", MethodName::PartitionedPerturbation, inside)?;
    let floor = noise.floor.map(|(_, spot)| spot);
    only("floor", MethodName::GeneralPerturbation, floor)?;
    let key = noise.key_file.as_ref().map(|(_, spot)| *spot);
    match (key, &noise.id) {
        (Some(spot), _) if method == MethodName::PerturbedGeneralization => {
            let error = Error::recipe(
                "`perturbed-generalization` publishes other people each time, so a key \
                 cannot keep their noise the same",
            );
            Err(spec.error_at(spot, error))
        }
        (None, Some((_, spot))) => {
            let error = Error::recipe("`id` goes with `key-file`").with_hint(
                "with a secret key, the same person gets the same noise in every release",
            );
            Err(spec.error_at(*spot, error))
        }
        _ => Ok(()),
    }
}

/// Roles and levels that randomizing cannot serve.
fn check_columns(spec: &Spec, first: &PromiseSpec, grouped: bool) -> Result<()> {
    let sensitive: Vec<_> =
        spec.columns.iter().filter(|column| column.role == Role::Sensitive).collect();
    if sensitive.is_empty() {
        let error = Error::recipe("this promise needs a column of role `sensitive`")
            .with_hint("say which column nobody should learn about a person");
        return Err(spec.error_at(first.spot, error));
    }
    if let (Some((true, spot)), [only]) = (spec.method.noise.together, &*sensitive) {
        let error = Error::recipe(format!(
            "a compound column needs several columns of role `sensitive`, but there is only `{}`",
            only.name
        ));
        return Err(spec.error_at(spot, error));
    }
    for column in &spec.columns {
        let at = |error| Err(spec.error_at(column.spot, error));
        if !grouped && column.lowest.is_some_and(|lowest| lowest > 0) {
            return at(Error::recipe(
                "`lowest` cannot be kept: where values are randomized, quasi columns are \
                 published as they are",
            )
            .with_hint("make the column coarser before, or `drop` it"));
        }
        if grouped && column.role == Role::Other {
            return at(Error::recipe(
                "`perturbed-generalization` publishes no columns of role `other`",
            )
            .with_hint("make it `drop`, or `quasi`"));
        }
    }
    Ok(())
}
