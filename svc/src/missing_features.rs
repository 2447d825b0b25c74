//! Methods that need a feature which this build is without. They cannot be called: no type has the
//! feature's trait, whose message names the feature, where rustc would only say that there is no
//! such method. For paths, such as `svc::Upload`, rustc names the feature itself.
//!
//! The results are of any type, so that rustc has no further message about the use of a result.
//! The bounds are `for<'f>`, as rustc refuses others that no type can satisfy.

/// Defines the trait of a feature, which no type implements.
macro_rules! feature {
    ($feature:literal, $name:ident, $message:literal, $label:literal, $note:literal) => {
        /// A feature that this build is without.
        #[cfg(not(feature = $feature))]
        #[diagnostic::on_unimplemented(message = $message, label = $label, note = $note)]
        pub trait $name<'f> {}
    };
}

feature!(
    "auth",
    FeatureAuth,
    "this method of `{Self}` needs the feature `auth` of svc",
    "svc is built without the feature `auth`",
    "switch it on: cargo add svc --features auth"
);
feature!(
    "embedded",
    FeatureEmbedded,
    "this method of `{Self}` needs the feature `embedded` of svc",
    "svc is built without the feature `embedded`",
    "switch it on: cargo add svc --features embedded"
);
feature!(
    "native-auth",
    FeatureNativeAuth,
    "this method of `{Self}` needs the feature `native-auth` of svc",
    "svc is built without the feature `native-auth`",
    "switch it on: cargo add svc --features native-auth"
);
feature!(
    "redis",
    FeatureRedis,
    "this method of `{Self}` needs the feature `redis` of svc",
    "svc is built without the feature `redis`",
    "switch it on: cargo add svc --features redis"
);
feature!(
    "sessions",
    FeatureSessions,
    "this method of `{Self}` needs the feature `sessions` of svc",
    "svc is built without the feature `sessions`",
    "switch it on: cargo add svc --features sessions"
);
feature!(
    "sqlx",
    FeatureSqlx,
    "this method of `{Self}` needs the feature `sqlx` of svc",
    "svc is built without the feature `sqlx`",
    "switch it on: cargo add svc --features sqlx"
);

#[cfg(not(feature = "auth"))]
impl<'a> crate::Context<'a> {
    #[doc(hidden)]
    pub fn user<T>(&self) -> Option<&'a T>
    where
        for<'f> Self: FeatureAuth<'f>,
    {
        None
    }

    #[doc(hidden)]
    pub fn require_user<T>(&self) -> crate::Result<&'a T>
    where
        for<'f> Self: FeatureAuth<'f>,
    {
        Err(needed("auth"))
    }

    #[doc(hidden)]
    pub fn token<T>(&self) -> Option<&'a T>
    where
        for<'f> Self: FeatureAuth<'f>,
    {
        None
    }
}

#[cfg(not(feature = "auth"))]
impl crate::RequestContext {
    #[doc(hidden)]
    pub fn user<T>(&self) -> Option<&T>
    where
        for<'f> Self: FeatureAuth<'f>,
    {
        None
    }

    #[doc(hidden)]
    pub fn require_user<T>(&self) -> crate::Result<&T>
    where
        for<'f> Self: FeatureAuth<'f>,
    {
        Err(needed("auth"))
    }
}

#[cfg(not(feature = "auth"))]
impl crate::authz::AuthorizationRequest {
    #[doc(hidden)]
    pub fn user<T>(&self) -> Option<&T>
    where
        for<'f> Self: FeatureAuth<'f>,
    {
        None
    }
}

#[cfg(not(feature = "auth"))]
impl crate::db::SessionVariables {
    #[doc(hidden)]
    pub fn user_id<N>(self, _: N) -> Self
    where
        for<'f> Self: FeatureAuth<'f>,
    {
        self
    }

    #[doc(hidden)]
    pub fn claim<N, C>(self, _: N, _: C) -> Self
    where
        for<'f> Self: FeatureAuth<'f>,
    {
        self
    }
}

#[cfg(not(feature = "auth"))]
impl crate::AppOptions {
    #[doc(hidden)]
    pub fn auth_provider<P>(self, _: P) -> Self
    where
        for<'f> Self: FeatureAuth<'f>,
    {
        self
    }

    #[doc(hidden)]
    pub fn load_user<D, L>(self, _: D, _: L) -> Self
    where
        for<'f> Self: FeatureAuth<'f>,
    {
        self
    }

    #[doc(hidden)]
    pub fn api_keys<K>(self, _: K) -> Self
    where
        for<'f> Self: FeatureAuth<'f>,
    {
        self
    }

    #[doc(hidden)]
    pub fn token_revocation<R>(self, _: R) -> Self
    where
        for<'f> Self: FeatureAuth<'f>,
    {
        self
    }

    #[doc(hidden)]
    pub fn auth_required(self, _: bool) -> Self
    where
        for<'f> Self: FeatureAuth<'f>,
    {
        self
    }
}

#[cfg(all(feature = "testing", not(feature = "auth")))]
impl crate::testing::Client {
    #[doc(hidden)]
    pub fn as_user<U>(&self, _: U) -> Self
    where
        for<'f> Self: FeatureAuth<'f>,
    {
        self.clone()
    }
}

#[cfg(not(feature = "native-auth"))]
impl crate::AppOptions {
    #[doc(hidden)]
    pub fn accounts<A>(self, _: A) -> Self
    where
        for<'f> Self: FeatureNativeAuth<'f>,
    {
        self
    }
}

#[cfg(not(feature = "embedded"))]
impl crate::AppOptions {
    #[doc(hidden)]
    pub fn embedded_database<O>(self, _: O) -> Self
    where
        for<'f> Self: FeatureEmbedded<'f>,
    {
        self
    }
}

#[cfg(not(feature = "redis"))]
impl crate::AppOptions {
    #[doc(hidden)]
    pub fn redis<C>(self, _: C) -> Self
    where
        for<'f> Self: FeatureRedis<'f>,
    {
        self
    }

    #[doc(hidden)]
    pub fn redis_client<T>(&self) -> Result<Option<T>, crate::ConfigError>
    where
        for<'f> Self: FeatureRedis<'f>,
    {
        Ok(None)
    }
}

#[cfg(not(feature = "redis"))]
impl crate::rate_limit::RateLimiting {
    #[doc(hidden)]
    pub fn redis_client<C>(self, _: C) -> Self
    where
        for<'f> Self: FeatureRedis<'f>,
    {
        self
    }
}

#[cfg(not(feature = "sessions"))]
impl<'a> crate::Context<'a> {
    #[doc(hidden)]
    pub fn session<T>(&self) -> crate::Result<&'a T>
    where
        for<'f> Self: FeatureSessions<'f>,
    {
        Err(needed("sessions"))
    }
}

#[cfg(not(feature = "sqlx"))]
impl crate::db::Db {
    #[doc(hidden)]
    pub fn pool<T>(&self) -> &T
    where
        for<'f> Self: FeatureSqlx<'f>,
    {
        unreachable!("it cannot be called")
    }

    #[doc(hidden)]
    pub fn sqlx_transaction<T>(&self) -> std::future::Ready<crate::Result<T>>
    where
        for<'f> Self: FeatureSqlx<'f>,
    {
        std::future::ready(Err(needed("sqlx")))
    }

    #[doc(hidden)]
    pub fn sqlx_connection<T>(&self) -> std::future::Ready<crate::Result<T>>
    where
        for<'f> Self: FeatureSqlx<'f>,
    {
        std::future::ready(Err(needed("sqlx")))
    }
}

#[cfg(any(
    not(feature = "auth"),
    not(feature = "sessions"),
    not(feature = "sqlx")
))]
fn needed(feature: &str) -> crate::Error {
    crate::Error::internal(format!("the feature `{feature}` of svc is needed"))
}
