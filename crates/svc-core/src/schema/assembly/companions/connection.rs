//! `UserConnection`, `UserEdge` and `PageInfo` (GraphQL Cursor Connections Specification, Relay).

use super::Companions;
use super::objects::{define_object, list, non_null, reserve_object};
use crate::schema::model::{
    FieldDef, Part, TypeDef, TypeExpr, TypeIndex, TypeKind, gate_of_stored,
};

impl Companions<'_> {
    pub(super) fn connection(
        &mut self,
        types: &mut Vec<TypeDef>,
        row: TypeIndex,
        index: TypeIndex,
    ) {
        let name = types[row].name.clone();
        self.page(types, row, (index, &name), Vec::new());
    }

    /// Defines a page whose type names start with `name`, with additional fields on its edges.
    pub(super) fn page(
        &mut self,
        types: &mut Vec<TypeDef>,
        row: TypeIndex,
        (index, name): (TypeIndex, &str),
        of_edge: Vec<FieldDef>,
    ) {
        let string = non_null(self.common.string);

        // Cursors contain the key regardless of the order.
        let key = gate_of_stored(types, row, "id");
        let edge = reserve_object(types, &format!("{name}Edge"));
        let mut fields = vec![
            self.part("node", "The row.", non_null(row), Part::Node),
            FieldDef {
                gated: key,
                ..self.part(
                    "cursor",
                    "The position of the row; for `after` and `before`.",
                    string,
                    Part::Cursor,
                )
            },
        ];

        let of_row = &types[row].name;
        let description = match of_edge.is_empty() {
            true => format!("A row of {of_row} and its cursor."),
            false => format!("A row of {of_row}, what joins it, and its cursor."),
        };

        fields.extend(of_edge);
        define_object(types, edge, description, fields);
        let page_info = self.page_info(types);
        let total = non_null(self.common.int);
        let fields = vec![
            self.part(
                "edges",
                "The rows with their cursors.",
                list(edge),
                Part::Edges,
            ),
            self.part("nodes", "The rows.", list(row), Part::Nodes),
            // The start and the end of the page are cursors as well.
            FieldDef {
                gated: key,
                ..self.part(
                    "page_info",
                    "The ends of the page.",
                    non_null(page_info),
                    Part::PageInfo,
                )
            },
            self.part(
                "total_count",
                "The number of rows that match, on all pages.",
                total,
                Part::TotalCount,
            ),
        ];

        let description = format!("A page of {}.", types[row].name);

        define_object(types, index, description, fields);
    }

    fn page_info(&mut self, types: &mut Vec<TypeDef>) -> TypeIndex {
        if let Some(known) = self.page_info {
            return known;
        }

        let index = reserve_object(types, "PageInfo");
        self.page_info = Some(index);
        let (boolean, string) = (
            non_null(self.common.boolean),
            TypeExpr::Named(self.common.string),
        );
        let fields = vec![
            self.part(
                "has_next_page",
                "Whether rows follow.",
                boolean.clone(),
                Part::HasNextPage,
            ),
            self.part(
                "has_previous_page",
                "Whether rows come before.",
                boolean,
                Part::HasPreviousPage,
            ),
            self.part(
                "start_cursor",
                "The cursor of the first row.",
                string.clone(),
                Part::StartCursor,
            ),
            self.part(
                "end_cursor",
                "The cursor of the last row.",
                string,
                Part::EndCursor,
            ),
        ];

        define_object(
            types,
            index,
            "The ends of a page: their cursors, and whether rows lie beyond.".to_owned(),
            fields,
        );

        debug_assert!(matches!(types[index].kind, TypeKind::Object(_)));

        index
    }
}
