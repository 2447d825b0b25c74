//! Methods of requests and databases that need a feature which this build is without.

#[cfg(not(feature = "auth"))]
impl<'a> crate::request::Context<'a> {
    #[doc(hidden)]
    pub fn user<T>(&self) -> Option<&'a T>
    where
        for<'f> Self: svc_core::feature_traits::FeatureAuth<'f>,
    {
        None
    }

    #[doc(hidden)]
    pub fn require_user<T>(&self) -> svc_core::Result<&'a T>
    where
        for<'f> Self: svc_core::feature_traits::FeatureAuth<'f>,
    {
        Err(svc_core::feature_traits::needed("auth"))
    }

    #[doc(hidden)]
    pub fn token<T>(&self) -> Option<&'a T>
    where
        for<'f> Self: svc_core::feature_traits::FeatureAuth<'f>,
    {
        None
    }
}

#[cfg(not(feature = "auth"))]
impl crate::request::RequestContext {
    #[doc(hidden)]
    pub fn user<T>(&self) -> Option<&T>
    where
        for<'f> Self: svc_core::feature_traits::FeatureAuth<'f>,
    {
        None
    }

    #[doc(hidden)]
    pub fn require_user<T>(&self) -> svc_core::Result<&T>
    where
        for<'f> Self: svc_core::feature_traits::FeatureAuth<'f>,
    {
        Err(svc_core::feature_traits::needed("auth"))
    }
}

#[cfg(not(feature = "auth"))]
impl crate::request::SessionVariables {
    #[doc(hidden)]
    pub fn user_id<N>(self, _: N) -> Self
    where
        for<'f> Self: svc_core::feature_traits::FeatureAuth<'f>,
    {
        self
    }

    #[doc(hidden)]
    pub fn claim<N, C>(self, _: N, _: C) -> Self
    where
        for<'f> Self: svc_core::feature_traits::FeatureAuth<'f>,
    {
        self
    }
}

#[cfg(not(feature = "sessions"))]
impl<'a> crate::request::Context<'a> {
    #[doc(hidden)]
    pub fn session<T>(&self) -> svc_core::Result<&'a T>
    where
        for<'f> Self: svc_core::feature_traits::FeatureSessions<'f>,
    {
        Err(svc_core::feature_traits::needed("sessions"))
    }
}

#[cfg(not(feature = "sqlx"))]
impl crate::repository::Db {
    #[doc(hidden)]
    pub fn pool<T>(&self) -> &T
    where
        for<'f> Self: svc_core::feature_traits::FeatureSqlx<'f>,
    {
        unreachable!("it cannot be called")
    }

    #[doc(hidden)]
    pub fn sqlx_transaction<T>(&self) -> std::future::Ready<svc_core::Result<T>>
    where
        for<'f> Self: svc_core::feature_traits::FeatureSqlx<'f>,
    {
        std::future::ready(Err(svc_core::feature_traits::needed("sqlx")))
    }

    #[doc(hidden)]
    pub fn sqlx_connection<T>(&self) -> std::future::Ready<svc_core::Result<T>>
    where
        for<'f> Self: svc_core::feature_traits::FeatureSqlx<'f>,
    {
        std::future::ready(Err(svc_core::feature_traits::needed("sqlx")))
    }
}
