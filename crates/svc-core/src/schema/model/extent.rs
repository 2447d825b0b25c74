//! The size of the lists in introspection.

use apollo_compiler::Schema;
use apollo_compiler::schema::ExtendedType;

/// The lengths of a list that each type or field has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lengths {
    /// The total number of elements of all such lists.
    pub total: u64,
    /// The length of the longest list.
    pub longest: u64,
}

/// The lengths of the introspection lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extent {
    pub types: u64,
    pub fields: Lengths,
    pub arguments: Lengths,
    pub input_fields: Lengths,
    pub enum_values: Lengths,
    pub interfaces: Lengths,
    pub possible_types: Lengths,
    pub directives: u64,
    pub directive_arguments: Lengths,
}

impl Lengths {
    fn add(&mut self, elements: usize) {
        self.total += elements as u64;
        self.longest = self.longest.max(elements as u64);
    }
}

impl Extent {
    pub(crate) fn of(schema: &Schema) -> Self {
        let mut extent = Self {
            types: schema.types.len() as u64,
            ..Self::default()
        };

        let mut fields = |count: usize, arguments: &mut dyn Iterator<Item = usize>| {
            extent.fields.add(count);
            arguments.for_each(|count| extent.arguments.add(count));
        };

        let implementers = schema.implementers_map();
        let (mut interfaces, mut possible) = (Lengths::default(), Lengths::default());
        let (mut input_fields, mut enum_values) = (Lengths::default(), Lengths::default());

        for (name, def) in &schema.types {
            match def {
                ExtendedType::Object(object) => {
                    fields(
                        object.fields.len(),
                        &mut object.fields.values().map(|field| field.arguments.len()),
                    );
                    interfaces.add(object.implements_interfaces.len());
                }
                ExtendedType::Interface(interface) => {
                    fields(
                        interface.fields.len(),
                        &mut interface.fields.values().map(|field| field.arguments.len()),
                    );
                    interfaces.add(interface.implements_interfaces.len());
                    possible.add(implementers.get(name).map_or(0, |all| all.objects.len()));
                }
                ExtendedType::Union(union) => possible.add(union.members.len()),
                ExtendedType::Enum(values) => enum_values.add(values.values.len()),
                ExtendedType::InputObject(input) => input_fields.add(input.fields.len()),
                ExtendedType::Scalar(_) => {}
            }
        }

        extent.directives = schema.directive_definitions.len() as u64;
        schema
            .directive_definitions
            .values()
            .for_each(|def| extent.directive_arguments.add(def.arguments.len()));

        Self {
            interfaces,
            possible_types: possible,
            input_fields,
            enum_values,
            ..extent
        }
    }

    /// The total number of elements of the schema.
    pub fn elements(&self) -> u64 {
        let lists = [
            self.fields,
            self.arguments,
            self.input_fields,
            self.enum_values,
            self.interfaces,
            self.possible_types,
            self.directive_arguments,
        ];
        self.types + self.directives + lists.iter().map(|list| list.total).sum::<u64>()
    }
}
