//! Queries as return types of resolvers.

use super::{Completed, Outcome, ReturnedQuery};
use crate::repository::{Aggregate, Connection, Find, FindOne};
use svc_core::schema::{PlannedReturn, Registry, Returns, SvcType, TypeRef};

impl<T: SvcType> Returns for Find<T> {
    fn type_ref(registry: &mut Registry) -> TypeRef {
        T::type_ref(registry).list()
    }
    fn outcome<'a>(self) -> Outcome<'a>
    where
        Self: 'a,
    {
        Ok(Completed::Query(Box::new(ReturnedQuery::Find(
            self.into_spec(),
        ))))
    }
}

impl<T: SvcType> Returns for FindOne<T> {
    fn type_ref(registry: &mut Registry) -> TypeRef {
        T::type_ref(registry).nullable()
    }
    fn outcome<'a>(self) -> Outcome<'a>
    where
        Self: 'a,
    {
        Ok(Completed::Query(Box::new(ReturnedQuery::Find(
            self.into_spec(),
        ))))
    }
}

impl<T: SvcType + 'static> Returns for Connection<T> {
    fn type_ref(registry: &mut Registry) -> TypeRef {
        <Self as PlannedReturn>::type_ref(registry)
    }
    fn outcome<'a>(self) -> Outcome<'a>
    where
        Self: 'a,
    {
        Ok(Completed::Query(Box::new(ReturnedQuery::Connection(
            self.into_spec(),
        ))))
    }
}

impl<T: SvcType + 'static> Returns for Aggregate<T> {
    fn type_ref(registry: &mut Registry) -> TypeRef {
        <Self as PlannedReturn>::type_ref(registry)
    }
    fn outcome<'a>(self) -> Outcome<'a>
    where
        Self: 'a,
    {
        Ok(Completed::Query(Box::new(ReturnedQuery::Aggregate(
            self.into_spec(),
        ))))
    }
}
