//! What goes together in a mixture.

use crate::error::{Error, Result};
use crate::hierarchy::Cells;
use crate::promise::About;
use crate::recipe::methods::Treats;
use crate::recipe::parts::Mixture;
use crate::recipe::parts::family::Family;
use crate::recipe::section::{listed, suggestion};
use crate::recipe::{KnowledgeSpec, PromiseKind, PromiseSpec, Spec, Spot};
use crate::table::Role;

impl Mixture<'_> {
    /// What must be true so that promises hold beside each other.
    pub(super) fn check(&self) -> Result<()> {
        let spec = self.spec;
        let at =
            |promise: &PromiseSpec, error: Error| spec.error_at(promise.spot, error);
        for (place, (typed, family, columns)) in self.promises.iter().enumerate() {
            let name = typed.kind.promise().name();
            if columns.is_empty() {
                let error = Error::recipe(format!("`{name}` is about no column"));
                let role = role_name(family.role());
                let hint =
                    format!("no {role} column is left for it; say `columns = [...]`");
                return Err(at(typed, error.with_hint(hint)));
            }
            for (other, others, also) in &self.promises[..place] {
                let both = columns.iter().find(|name| also.contains(name));
                let (Some(both), false) = (both, family.shares_columns(*others)) else {
                    continue;
                };
                let error = Error::recipe(format!(
                    "`{both}` is in `{}` and in `{name}`, which do different things to it",
                    other.kind.promise().name()
                ));
                let hint = match (family, others) {
                    (Family::Draws, Family::Values | Family::Apart)
                    | (Family::Values | Family::Apart, Family::Draws) => {
                        "what is drawn is noise, and groups of it say nothing; give each \
                         promise its own `columns = [...]`"
                    }
                    _ => "give each promise its own `columns = [...]`",
                };
                return Err(at(typed, error.with_hint(hint)));
            }
        }
        self.check_quasi()?;
        self.check_noise()?;
        self.check_apart()?;
        self.check_suppression()
    }

    /// Where anything is promised of quasi columns, it is promised of all of them.
    fn check_quasi(&self) -> Result<()> {
        let numbers = self.columns(Family::Numbers);
        let cells = self.columns(Family::Cells);
        if !self.has(Family::Cells) {
            return Ok(());
        }
        for column in self.spec.columns.iter().filter(|c| c.role == Role::Quasi) {
            let name = column.name.as_str();
            if !numbers.contains(&name) && !cells.contains(&name) {
                let error = Error::recipe(format!(
                    "`{name}` is a quasi column, but no promise is about it"
                ));
                return Err(self.spec.error_at(
                    column.spot,
                    error.with_hint(
                        "add it to the `columns` of a promise, or give it another role",
                    ),
                ));
            }
        }
        let mut of_cells =
            self.promises.iter().filter(|(_, family, _)| *family == Family::Cells);
        let first = of_cells.next();
        for (typed, _, columns) in of_cells {
            if let Some((other, _, also)) = first
                && !also.iter().all(|name| columns.contains(name))
            {
                let error = Error::recipe(format!(
                    "`{}` and `{}` are about groups of different columns",
                    other.kind.promise().name(),
                    typed.kind.promise().name()
                ));
                let hint = "rows have one group: give both the same `columns`";
                return Err(self.spec.error_at(typed.spot, error.with_hint(hint)));
            }
        }
        Ok(())
    }

    /// What does not hold beside noise.
    fn check_noise(&self) -> Result<()> {
        let company =
            self.promises.iter().find(|(_, family, _)| *family == Family::Numbers);
        if company.is_none() {
            return Ok(());
        }
        let apart = self.apart();
        for (typed, family, columns) in &self.promises {
            let at = |error: Error| Err(self.spec.error_at(typed.spot, error));
            let name = typed.kind.promise().name();
            let about_people = match typed.kind.promise().about() {
                About::Groups(promise) => promise.looks_at_people(),
                About::Draws(_) | About::Posteriors(_) | About::Company(_) => false,
            };
            if about_people {
                return at(Error::recipe(format!(
                    "`{name}` does not hold beside blurred numbers: how well the numbers of \
                     people fit tells who is there, and nothing bounds that yet"
                ))
                .with_hint("generalize these columns, too: leave `expected-anonymity` out"));
            }
            let in_rows = columns.iter().find(|name| !apart.contains(name));
            if let (Family::Values, Some(column)) = (family, in_rows) {
                return at(Error::recipe(format!(
                    "`{name}` of `{column}` does not hold beside blurred numbers: somebody \
                     who knows the numbers weighs the rows of a group by how well they fit"
                ))
                .with_hint(format!(
                    "publish `{column}` by group (`anatomy` or `robust`), or randomize it \
                     (`breach` or `fine-grain`)"
                )));
            }
        }
        let pdf = self.typed.iter().find_map(|method| method.pdf);
        if let Some(pdf) = pdf {
            let error = Error::recipe(
                "pdf cells do not go with blurred numbers: rows would name their group, and \
                 not their cells",
            );
            return Err(self
                .spec
                .error_at(pdf.spot, error.with_hint("use other `cells`")));
        }
        let nodes = self.typed.iter().find(|method| {
            let cuts = method.name.is_some_and(|method| method.name() == "mondrian");
            cuts && method.cells == Some(Cells::Taxonomy)
        });
        match nodes.and_then(|method| method.spot) {
            Some(spot) => {
                let error = Error::recipe(
                    "`mondrian` cannot stand beside blurred numbers with cells that are \
                     nodes, because nodes overlap",
                );
                let hint =
                    "use `cells = \"interval\"` or `\"set\"`, or leave `cells` out";
                Err(self.spec.error_at(spot, error.with_hint(hint)))
            }
            None => Ok(()),
        }
    }

    /// What files say is known is about one sensitive column.
    fn check_files(&self) -> Result<()> {
        let files = self.promises.iter().filter(|(typed, ..)| match &typed.kind {
            PromiseKind::RRobustness(robust) => {
                matches!(robust.knowledge, KnowledgeSpec::Files(..))
            }
            _ => false,
        });
        let mut of: Vec<&str> = Vec::new();
        for (typed, _, columns) in files {
            of.extend(
                columns
                    .iter()
                    .filter(|name| !of.contains(*name))
                    .copied()
                    .collect::<Vec<_>>(),
            );
            if let [first, second, ..] = of[..] {
                let error = Error::recipe(format!(
                    "what files say is known is about one column, but `r-robustness` is \
                     asked of `{first}` and `{second}` with files"
                ));
                return Err(self.spec.error_at(typed.spot, error).with_hint(
                    "promise it of each column on its own, with `columns = [...]`: of one \
                     with files, of the others with `knowledge = \"table\"`",
                ));
            }
        }
        Ok(())
    }

    /// Of whom values that stand apart can be known.
    fn check_apart(&self) -> Result<()> {
        let apart = self.apart();
        let numbers = self.columns(Family::Numbers);
        let changed =
            |name: &str| self.coarse().contains(&name) || numbers.contains(&name);
        for (typed, family, _) in &self.promises {
            let PromiseKind::RRobustness(robust) = &typed.kind else { continue };
            if *family != Family::Apart {
                continue;
            }
            let quasi = self.of_role(Role::Quasi);
            let known: Vec<&str> = match &robust.signatures {
                Some(sets) => {
                    sets.iter().flat_map(|(set, _)| set).map(String::as_str).collect()
                }
                None => quasi,
            };
            if let Some(column) = known.into_iter().find(|name| changed(name)) {
                let error = Error::recipe(format!(
                    "`r-robustness` by `{column}` cannot be proved from the published files \
                     if `{column}` is generalized or blurred: who is in which group cannot be \
                     told any more"
                ));
                let hint = "say `signatures` of columns that are kept, promise `l-diversity` \
                            of values by group (`anatomy`), or leave the values in the rows \
                            (`mondrian`)";
                return Err(self.spec.error_at(typed.spot, error.with_hint(hint)));
            }
        }
        self.check_files()?;
        let pdf = self.typed.iter().find_map(|method| method.pdf);
        match pdf {
            Some(pdf) if !apart.is_empty() => Err(self.spec.error_at(
                pdf.spot,
                Error::recipe(
                    "pdf cells and values that stand apart would both need the column `group`",
                )
                .with_hint("use other `cells`"),
            )),
            _ => Ok(()),
        }
    }

    /// Cells leave rows out before anybody else counts them, and so does noise within them.
    /// Values by group come after both, and what they left out would be missing there.
    fn check_suppression(&self) -> Result<()> {
        let leaving = self.typed.iter().find_map(|method| {
            let named =
                method.name.filter(|method| method.treats() == Treats::Apart)?;
            let mut keys = method.keys.iter();
            let (_, spot) = keys.find(|(key, _)| key == "suppression")?;
            Some((named.name(), *spot))
        });
        match leaving {
            Some((name, spot)) => Err(self.spec.error_at(
                spot,
                Error::recipe(format!(
                    "`{name}` leaves no rows out beside other methods: they would be \
                     missing in what these count"
                ))
                .with_hint(
                    "leave `suppression` out; methods that generalize or blur may leave \
                     rows out, of the whole release",
                ),
            )),
            None => Ok(()),
        }
    }
}

/// That the columns of a promise are there, and of the role it is about.
pub(super) fn check_columns(
    spec: &Spec,
    promise: &PromiseSpec,
    columns: &[(String, Spot)],
    family: Family,
) -> Result<()> {
    let name = promise.kind.promise().name();
    for (column, spot) in columns {
        let found = find_column(spec, column, *spot)?;
        if found == family.role() {
            continue;
        }
        let error = match found {
            Role::Drop | Role::Identifier => Error::recipe(format!(
                "`{column}` is not published, so nothing can be promised of it"
            )),
            found => Error::recipe(format!(
                "`{name}` is about {} columns, but `{column}` is {}",
                role_name(family.role()),
                role_name(found)
            )),
        };
        return Err(spec.error_at(*spot, error));
    }
    Ok(())
}

/// The role of a column that is named somewhere.
pub(super) fn find_column(spec: &Spec, name: &str, spot: Spot) -> Result<Role> {
    match spec.column(name) {
        Some(column) => Ok(column.role),
        None => {
            let known: Vec<&str> =
                spec.columns.iter().map(|c| c.name.as_str()).collect();
            let error = Error::recipe(format!("the recipe has no column `{name}`"));
            let hint = match known.len() {
                0..=12 => suggestion(name, &known),
                _ => format!("its columns are {}, ...", listed(&known[..12])),
            };
            Err(spec.error_at(spot, error.with_hint(hint)))
        }
    }
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Quasi => "quasi",
        Role::Sensitive => "sensitive",
        Role::Identifier => "an identifier",
        Role::Other => "other",
        Role::Drop => "dropped",
    }
}
