use std::fmt;
use std::future::Future;
use std::marker::PhantomData;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::{AccessCheck, AuthorizationDecision, AuthorizationRequest, IntoDecision};
use svc_core::Result;
use svc_core::schema::Code;

/// The policy of an application: it decides which operations may run, and on which rows; given to
/// `AppOptions::authorizer`.
///
/// It is asked once for each root field of a request, before anything of the field runs, whichever
/// way the field is answered. A function or a closure will do:
///
/// ```
/// use svc::authz::{AuthorizationDecision, AuthorizationRequest, OperationType};
/// use svc::prelude::*;
///
/// async fn policy(request: AuthorizationRequest) -> Result<AuthorizationDecision> {
///     let Some(tenant) = request.context().header("x-tenant").map(str::to_owned) else {
///         return Ok(AuthorizationDecision::deny());
///     };
///     Ok(match request.operation_type() {
///         OperationType::Query => AuthorizationDecision::allow_filtered([("tenant", tenant)]),
///         _ => AuthorizationDecision::deny_with("NO_MUTATIONS", "the service is read-only today"),
///     })
/// }
///
/// let options = AppOptions::new().authorizer(policy);
/// let options = AppOptions::new().authorizer(async |request: AuthorizationRequest| {
///     request.operation_name() != "delete_everything"
/// });
///
/// // One that waits for nothing need not be `async`.
/// fn read_only(request: AuthorizationRequest) -> bool {
///     request.operation_type() != OperationType::Mutation
/// }
///
/// let options = AppOptions::new().authorizer(read_only);
/// ```
///
/// # Errors
/// An error denies. An error made by [`Error::new`](svc_core::Error::new) reaches the client
/// unchanged; any other is logged, and the client gets `FORBIDDEN`. The same applies to a panic and
/// to an authorizer that takes longer than `SvcConfig::authorization_timeout`.
pub trait Authorizer: Send + Sync + 'static {
    /// Decides about one operation.
    ///
    /// # Errors
    /// See [`Authorizer`].
    fn authorize_operation(
        &self,
        request: AuthorizationRequest,
    ) -> impl Future<Output = Result<AuthorizationDecision>> + Send;

    /// Decides about all gated fields of a document in one call: a decision for each request, in
    /// their order. With `None`, the default,
    /// [`authorize_operation`](Self::authorize_operation) is called for each.
    ///
    /// ```
    /// use svc::authz::Authorizer;
    /// use svc::prelude::*;
    ///
    /// struct Remote;
    ///
    /// impl Authorizer for Remote {
    ///     async fn authorize_operation(&self, request: AuthorizationRequest) -> Result<AuthorizationDecision> {
    ///         let allowed = ask(&[request.operation_name()]).await?;
    ///         Ok(if allowed[0] { AuthorizationDecision::allow() } else { AuthorizationDecision::deny() })
    ///     }
    ///
    ///     async fn authorize_batch(
    ///         &self,
    ///         requests: Vec<AuthorizationRequest>,
    ///     ) -> Option<Vec<Result<AuthorizationDecision>>> {
    ///         let names: Vec<_> = requests.iter().map(AuthorizationRequest::operation_name).collect();
    ///         let Ok(allowed) = ask(&names).await else { return Some(Vec::new()) };
    ///         let decision = |allowed| match allowed {
    ///             true => AuthorizationDecision::allow(),
    ///             false => AuthorizationDecision::deny(),
    ///         };
    ///         Some(allowed.into_iter().map(|allowed| Ok(decision(allowed))).collect())
    ///     }
    /// }
    ///
    /// /// One call of the service that knows.
    /// async fn ask(names: &[&str]) -> Result<Vec<bool>> {
    ///     Ok(names.iter().map(|name| *name != "User.email").collect())
    /// }
    /// # drop(AppOptions::new().authorizer(Remote));
    /// ```
    ///
    /// A panic, a call that takes too long, and decisions that are not as many as the requests deny
    /// all of them.
    fn authorize_batch(
        &self,
        requests: Vec<AuthorizationRequest>,
    ) -> impl Future<Output = Option<Vec<Result<AuthorizationDecision>>>> + Send {
        drop(requests);
        std::future::ready(None)
    }
}

impl<A: Authorizer> Authorizer for &'static A {
    fn authorize_operation(
        &self,
        request: AuthorizationRequest,
    ) -> impl Future<Output = Result<AuthorizationDecision>> + Send {
        A::authorize_operation(self, request)
    }

    fn authorize_batch(
        &self,
        requests: Vec<AuthorizationRequest>,
    ) -> impl Future<Output = Option<Vec<Result<AuthorizationDecision>>>> + Send {
        A::authorize_batch(self, requests)
    }
}

/// The marker of an [`Authorizer`].
#[derive(Debug)]
pub struct Implemented;

/// The marker of a function that decides at once.
#[derive(Debug)]
pub struct AtOnce;

/// The marker of a function whose decision is waited for.
#[derive(Debug)]
pub struct Awaited;

/// An authorizer, or a value that becomes one: a value that implements [`Authorizer`], or a
/// function of the request, `async` or not.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an authorizer",
    note = "implement `Authorizer`, or write a `fn` or an `async fn` such as \
            `fn policy(request: AuthorizationRequest) -> Result<AuthorizationDecision>`; a `bool` will do, too"
)]
pub trait IntoAuthorizer<Kind>: Send + Sync + 'static {
    /// Decides about one operation.
    #[doc(hidden)]
    fn decide(&self, request: AuthorizationRequest)
    -> BoxFuture<'_, Result<AuthorizationDecision>>;

    /// Decides about several fields at once, where the authorizer can.
    #[doc(hidden)]
    fn decide_batch(&self, requests: Vec<AuthorizationRequest>) -> BoxFuture<'_, Decisions> {
        drop(requests);
        std::future::ready(None).boxed()
    }
}

impl<A: Authorizer> IntoAuthorizer<Implemented> for A {
    fn decide(
        &self,
        request: AuthorizationRequest,
    ) -> BoxFuture<'_, Result<AuthorizationDecision>> {
        self.authorize_operation(request).boxed()
    }

    fn decide_batch(&self, requests: Vec<AuthorizationRequest>) -> BoxFuture<'_, Decisions> {
        self.authorize_batch(requests).boxed()
    }
}

impl<F, D> IntoAuthorizer<AtOnce> for F
where
    F: Fn(AuthorizationRequest) -> D + Send + Sync + 'static,
    D: IntoDecision,
{
    fn decide(
        &self,
        request: AuthorizationRequest,
    ) -> BoxFuture<'_, Result<AuthorizationDecision>> {
        std::future::ready(self(request).into_decision()).boxed()
    }
}

impl<F, R> IntoAuthorizer<Awaited> for F
where
    F: Fn(AuthorizationRequest) -> R + Send + Sync + 'static,
    R: Future<Output: IntoDecision> + Send + 'static,
{
    fn decide(
        &self,
        request: AuthorizationRequest,
    ) -> BoxFuture<'_, Result<AuthorizationDecision>> {
        let decision = self(request);
        async move { decision.await.into_decision() }.boxed()
    }
}

/// An authorizer of one of the kinds.
pub struct AuthorizerOf<Kind, A> {
    authorizer: A,
    // A function pointer is `Send` and `Sync` for every `Kind`.
    kind: PhantomData<fn() -> Kind>,
}

impl<Kind: 'static, A: IntoAuthorizer<Kind>> AuthorizerOf<Kind, A> {
    /// The authorizer with its kind.
    pub const fn new(authorizer: A) -> Self {
        Self {
            authorizer,
            kind: PhantomData,
        }
    }
}

impl<Kind, A> fmt::Debug for AuthorizerOf<Kind, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AuthorizerOf")
    }
}

/// [`Authorizer`] for trait objects.
pub trait DynAuthorizer: Send + Sync + 'static {
    fn decide(&self, request: AuthorizationRequest)
    -> BoxFuture<'_, Result<AuthorizationDecision>>;
    fn decide_batch(&self, requests: Vec<AuthorizationRequest>) -> BoxFuture<'_, Decisions>;

    /// Decides about a root field. One that knows the decision already needs no request, which
    /// could be kept.
    ///
    /// # Errors
    /// A variable that leaves a required place empty.
    fn decide_about(&self, question: &dyn AccessCheck) -> Result<Deciding<'_>> {
        Ok(Deciding::Later(self.decide(question.request()?)))
    }
}

/// A decision that is known, or that is waited for.
pub enum Deciding<'a> {
    Now(AuthorizationDecision),
    Later(BoxFuture<'a, Result<AuthorizationDecision>>),
}

/// The decisions about several fields; `None` where they are asked for one by one.
pub(crate) type Decisions = Option<Vec<Result<AuthorizationDecision>>>;

impl<Kind: 'static, A: IntoAuthorizer<Kind>> DynAuthorizer for AuthorizerOf<Kind, A> {
    fn decide(
        &self,
        request: AuthorizationRequest,
    ) -> BoxFuture<'_, Result<AuthorizationDecision>> {
        self.authorizer.decide(request)
    }

    fn decide_batch(&self, requests: Vec<AuthorizationRequest>) -> BoxFuture<'_, Decisions> {
        self.authorizer.decide_batch(requests)
    }
}

/// The authorizer of one root field; the schema holds it as code.
pub struct OwnAuthorizer(&'static dyn DynAuthorizer);

impl OwnAuthorizer {
    /// An authorizer that `authorizer = …` names.
    pub const fn new<Kind: 'static, A: IntoAuthorizer<Kind>>(
        authorizer: &'static AuthorizerOf<Kind, A>,
    ) -> Self {
        Self(authorizer)
    }

    /// The authorizer that a root field was registered with; another kind of code denies.
    pub(super) fn of(code: &'static dyn Code) -> Option<&'static dyn DynAuthorizer> {
        (code as &dyn std::any::Any)
            .downcast_ref()
            .map(|own: &Self| own.0)
    }
}

impl Code for OwnAuthorizer {}

impl fmt::Debug for OwnAuthorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnAuthorizer")
    }
}
