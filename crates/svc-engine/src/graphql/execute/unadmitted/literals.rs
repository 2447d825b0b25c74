//! Admissions of one's own.

use crate::graphql::plan::{Admission, AllAdmitted, Plan, PlanField};

fn an_admission_by_its_fields(field: &PlanField) -> Admission<'_> {
    Admission {
        field,            //~ E0451 private
        row_filter: None, //~ E0451 private
    }
}

fn all_by_their_fields(plan: &Plan) -> AllAdmitted<'_> {
    AllAdmitted { plan } //~ E0451 private
}
