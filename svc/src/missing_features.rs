//! Methods that need a feature which this build is without: see `svc_core::feature_traits`.

#[cfg(not(feature = "auth"))]
impl crate::AppOptions {
    #[doc(hidden)]
    pub fn auth_provider<P>(self, _: P) -> Self
    where
        for<'f> Self: svc_core::feature_traits::FeatureAuth<'f>,
    {
        self
    }

    #[doc(hidden)]
    pub fn load_user<D, L>(self, _: D, _: L) -> Self
    where
        for<'f> Self: svc_core::feature_traits::FeatureAuth<'f>,
    {
        self
    }

    #[doc(hidden)]
    pub fn api_keys<K>(self, _: K) -> Self
    where
        for<'f> Self: svc_core::feature_traits::FeatureAuth<'f>,
    {
        self
    }

    #[doc(hidden)]
    pub fn token_revocation<R>(self, _: R) -> Self
    where
        for<'f> Self: svc_core::feature_traits::FeatureAuth<'f>,
    {
        self
    }

    #[doc(hidden)]
    pub fn auth_required(self, _: bool) -> Self
    where
        for<'f> Self: svc_core::feature_traits::FeatureAuth<'f>,
    {
        self
    }
}

#[cfg(all(feature = "testing", not(feature = "auth")))]
impl crate::testing::Client {
    #[doc(hidden)]
    pub fn as_user<U>(&self, _: U) -> Self
    where
        for<'f> Self: svc_core::feature_traits::FeatureAuth<'f>,
    {
        self.clone()
    }
}

#[cfg(not(feature = "native-auth"))]
impl crate::AppOptions {
    #[doc(hidden)]
    pub fn accounts<A>(self, _: A) -> Self
    where
        for<'f> Self: svc_core::feature_traits::FeatureNativeAuth<'f>,
    {
        self
    }
}

#[cfg(not(feature = "embedded"))]
impl crate::AppOptions {
    #[doc(hidden)]
    pub fn embedded_database<O>(self, _: O) -> Self
    where
        for<'f> Self: svc_core::feature_traits::FeatureEmbedded<'f>,
    {
        self
    }
}

#[cfg(not(feature = "redis"))]
impl crate::AppOptions {
    #[doc(hidden)]
    pub fn redis<C>(self, _: C) -> Self
    where
        for<'f> Self: svc_core::feature_traits::FeatureRedis<'f>,
    {
        self
    }

    #[doc(hidden)]
    pub fn redis_client<T>(&self) -> Result<Option<T>, svc_core::ConfigError>
    where
        for<'f> Self: svc_core::feature_traits::FeatureRedis<'f>,
    {
        Ok(None)
    }
}

#[cfg(not(feature = "redis"))]
impl crate::rate_limit::RateLimiting {
    #[doc(hidden)]
    pub fn redis_client<C>(self, _: C) -> Self
    where
        for<'f> Self: svc_core::feature_traits::FeatureRedis<'f>,
    {
        self
    }
}
