//! A receiver of OTLP, over HTTP and gRPC, that decodes the protobuf of the OpenTelemetry project.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use svc::axum::Router;
use svc::axum::body::Bytes;
use svc::axum::extract::State;
use svc::axum::http::HeaderMap;
use svc::axum::routing::post;
use svc_tests::within;
use tonic::{Request, Response, Status};

/// The requests received, with their headers.
#[derive(Debug, Clone, Default)]
pub(super) struct Received(Arc<Mutex<Vec<(HeaderMap, ExportTraceServiceRequest)>>>);

/// A receiver that listens.
pub(super) struct Receiver {
    pub(super) url: String,
    received: Received,
}

impl Receiver {
    pub(super) async fn start() -> Self {
        Self::on(([127, 0, 0, 1], 0).into()).await
    }

    pub(super) async fn on(address: SocketAddr) -> Self {
        let received = Received::default();
        let grpc = TraceServiceServer::new(received.clone());
        let router = Router::new()
            .route("/v1/traces", post(over_http))
            .with_state(received.clone())
            .route_service(
                "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
                grpc,
            );
        let listener = tokio::net::TcpListener::bind(address).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async { svc::axum::serve(listener, router).await.unwrap() });
        Self { url, received }
    }

    /// All spans so far.
    pub(super) fn spans(&self) -> Vec<Span> {
        let requests = self.received.0.lock().unwrap();
        let resources = requests
            .iter()
            .flat_map(|(_, request)| &request.resource_spans);
        resources
            .flat_map(|resource| &resource.scope_spans)
            .flat_map(|scope| &scope.spans)
            .cloned()
            .collect()
    }

    /// The headers of the first request.
    pub(super) fn headers(&self) -> HeaderMap {
        self.received.0.lock().unwrap()[0].0.clone()
    }

    /// The attributes of the service.
    pub(super) fn resource(&self) -> BTreeMap<String, String> {
        let requests = self.received.0.lock().unwrap();
        attributes(
            &requests[0].1.resource_spans[0]
                .resource
                .as_ref()
                .unwrap()
                .attributes,
        )
    }

    /// Waits for a span with this name.
    pub(super) async fn span(&self, name: &str) -> Span {
        within(Duration::from_secs(60), async || {
            let spans = self.spans();
            let found = spans.iter().find(|span| span.name == name).cloned();
            found.ok_or_else(|| {
                format!(
                    "no span {name} in {:?}",
                    spans.iter().map(|span| &span.name).collect::<Vec<_>>()
                )
            })
        })
        .await
    }

    /// The names of the spans of a trace, each under that of its parent.
    pub(super) fn tree(&self, trace: &[u8]) -> String {
        let mut spans = self.spans();
        spans.retain(|span| span.trace_id == trace);
        spans.sort_by_key(|span| span.start_time_unix_nano);
        let is_here = |id: &[u8]| spans.iter().any(|span| span.span_id == id);
        let mut text = String::new();
        for root in spans.iter().filter(|span| !is_here(&span.parent_span_id)) {
            write_below(&spans, root, 0, &mut text);
        }
        text
    }
}

fn write_below(spans: &[Span], span: &Span, depth: usize, text: &mut String) {
    text.push_str(&format!("{}{}\n", "  ".repeat(depth), span.name));
    for child in spans
        .iter()
        .filter(|child| child.parent_span_id == span.span_id)
    {
        write_below(spans, child, depth + 1, text);
    }
}

/// Attributes by their names, as texts.
pub(super) fn attributes(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    attributes
        .iter()
        .map(|pair| (pair.key.clone(), text(pair.value.as_ref())))
        .collect()
}

fn text(value: Option<&AnyValue>) -> String {
    match value.and_then(|value| value.value.as_ref()) {
        Some(Value::StringValue(text)) => text.clone(),
        Some(Value::IntValue(number)) => number.to_string(),
        other => format!("{other:?}"),
    }
}

async fn over_http(State(received): State<Received>, headers: HeaderMap, body: Bytes) -> Vec<u8> {
    assert_eq!(headers["content-type"], "application/x-protobuf");
    received
        .0
        .lock()
        .unwrap()
        .push((headers, ExportTraceServiceRequest::decode(body).unwrap()));
    ExportTraceServiceResponse::default().encode_to_vec()
}

#[tonic::async_trait]
impl TraceService for Received {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        self.0
            .lock()
            .unwrap()
            .push((HeaderMap::new(), request.into_inner()));
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}
