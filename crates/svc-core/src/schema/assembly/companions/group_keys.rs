//! The grouping keys of rows, and their names in `by` and in `key`.

use super::Companions;
use super::aggregate::{Leaf, leaves};
use crate::schema::assembly::fields::relations;
use crate::schema::model::{
    EnumValue, Gated, GroupKeyMember, Relation, TypeDef, TypeIndex, TypeKind, gate_of, is_checked,
};
use crate::schema::{GroupKey, Period, ScalarKind};

/// The grouping keys of a row type.
pub(super) struct GroupKeys {
    pub(super) own: Vec<KeyField>,
    pub(super) related: Vec<RelatedKeys>,
}

/// A field of `key`.
pub(super) struct KeyField {
    /// The field, with its name in `key`.
    pub(super) leaf: Leaf,
    /// Its name in `by`.
    by: String,
    pub(super) period: Option<Period>,
    /// Its description in the schema.
    pub(super) description: String,
}

/// The grouping keys from the row that a to-one relation leads to.
pub(super) struct RelatedKeys {
    pub(super) name: String,
    pub(super) rust: &'static str,
    pub(super) gated: Option<Gated>,
    pub(super) fields: Vec<KeyField>,
}

impl GroupKeys {
    /// The values of the enum.
    pub(super) fn members(&self) -> Vec<EnumValue> {
        let own = self.own.iter().map(|field| field.member(None));
        let related = self.related.iter();
        let related = related.flat_map(|keys| {
            keys.fields
                .iter()
                .map(move |field| field.member(Some(keys)))
        });
        own.chain(related).collect()
    }
}

impl KeyField {
    fn member(&self, through: Option<&RelatedKeys>) -> EnumValue {
        let relation = through.map(|keys| keys.rust);
        let key = GroupKey {
            relation,
            stored: self.leaf.stored,
            period: self.period,
        };

        EnumValue {
            name: self.by.clone().into(),
            stored: "",
            description: Some(self.description.clone().into()),
            deprecated: None,
            group_key: Some(GroupKeyMember {
                key,
                gates: [self.leaf.gated, through.and_then(|keys| keys.gated)],
            }),
        }
    }
}

impl Companions<'_> {
    pub(super) fn group_keys(&self, types: &[TypeDef], row: TypeIndex) -> GroupKeys {
        let plain = leaves(types, row, |ty| is_key(&types[ty].kind).then_some(ty));
        let mut own: Vec<_> = plain.into_iter().map(|leaf| self.plain(leaf)).collect();
        let relations = relations(types, row).into_iter();
        let to_one = relations.filter(|(field, relation)| {
            !relation.is_many()
                && types[relation.row].kind.source().is_some()
                // A check decides for each object, and a group has no object to decide on.
                && !is_checked(types, row, field.rust)
        });

        let related = to_one.map(|(field, relation)| RelatedKeys {
            name: field.name.clone(),
            rust: field.rust,
            gated: gate_of(types, row, field.rust),
            fields: self.related_fields(
                types,
                &self.shout(&field.name, field.rust),
                &field.name,
                relation,
            ),
        });

        let related: Vec<_> = related.filter(|keys| !keys.fields.is_empty()).collect();
        let periods: Vec<_> = own
            .iter()
            .flat_map(|field| self.periods(types, field))
            .collect();
        for field in periods {
            // A declared field takes precedence over a period with the same name.
            let is_taken = own
                .iter()
                .any(|known| known.leaf.name == field.leaf.name || known.by == field.by)
                || related.iter().any(|keys| keys.name == field.leaf.name);
            if !is_taken {
                own.push(field);
            }
        }

        GroupKeys { own, related }
    }

    fn plain(&self, leaf: Leaf) -> KeyField {
        let by = self.shout(&leaf.name, leaf.rust);
        let description = format!("The value of `{}`.", leaf.name);
        KeyField {
            by,
            period: None,
            description,
            leaf,
        }
    }

    fn related_fields(
        &self,
        types: &[TypeDef],
        by: &str,
        name: &str,
        relation: Relation,
    ) -> Vec<KeyField> {
        let fields = leaves(types, relation.row, |ty| {
            is_key(&types[ty].kind).then_some(ty)
        })
        .into_iter();
        let fields = fields.map(|leaf| KeyField {
            // Two underscores distinguish the `id` of `author` from a field `author_id`.
            by: format!("{by}__{}", self.shout(&leaf.name, leaf.rust)),
            period: None,
            description: format!("The value of `{}` of `{name}`.", leaf.name),
            leaf,
        });

        fields.collect()
    }

    /// The periods that contain the values of a field.
    fn periods(&self, types: &[TypeDef], field: &KeyField) -> Vec<KeyField> {
        let KeyField { leaf, by, .. } = field;
        let TypeKind::Scalar { kind, .. } = types[leaf.ty].kind else {
            return Vec::new();
        };

        let of_period = |period: &Period| {
            let name = period.name();
            KeyField {
                by: format!("{by}_{}", name.to_uppercase()),
                period: Some(*period),
                description: format!("The beginning of the {name} of `{}`, in UTC.", leaf.name),
                leaf: Leaf {
                    name: self.naming.apply(&format!("{}_{name}", leaf.name)),
                    ..*leaf
                },
            }
        };

        Period::of(kind).iter().map(of_period).collect()
    }

    /// Converts the name of a field to the name of an enum value: `soldOn` becomes `SOLD_ON`.
    fn shout(&self, name: &str, rust: &str) -> String {
        // The Rust name has the boundaries of the words; a renamed field only shows them by its
        // capitals.
        if self.naming.apply(rust) == name {
            return rust.to_uppercase();
        }

        let mut shouted = String::new();
        for char in name.chars() {
            if char.is_ascii_uppercase() && shouted.ends_with(|last: char| last != '_') {
                shouted.push('_');
            }
            shouted.push(char.to_ascii_uppercase());
        }

        shouted
    }
}

/// Whether rows can be grouped by values of a type.
fn is_key(kind: &TypeKind) -> bool {
    // PostgreSQL's `json` has no equality, which grouping needs.
    !matches!(
        kind,
        TypeKind::Scalar {
            kind: ScalarKind::Json,
            ..
        }
    ) && matches!(kind, TypeKind::Scalar { .. } | TypeKind::Enum(_))
}
