//! Settings: their meaning, and refused values.

use svc::axum::Router;
use svc::trace::{ExportFormat, ExportProtocol};
use svc::{TracingConfig, setup_tracing};

fn read(variables: &[(&str, &str)]) -> Result<TracingConfig, String> {
    let get = |name: &str| {
        variables
            .iter()
            .find(|(set, _)| *set == name)
            .map(|(_, text)| (*text).to_owned())
    };
    TracingConfig::from_variables(get).map_err(|error| error.to_string())
}

#[test]
fn variables_set_the_tracing_configuration() {
    assert_eq!(read(&[]).unwrap(), TracingConfig::default());
    let ratio = [
        ("OTEL_TRACES_SAMPLER", "parentbased_traceidratio"),
        ("OTEL_TRACES_SAMPLER_ARG", "0.25"),
    ];
    let config = read(&ratio).unwrap();
    assert_eq!((config.sample_rate, config.follow_parent), (0.25, true));
    let config = read(&[("OTEL_TRACES_SAMPLER", "always_off")]).unwrap();
    assert_eq!((config.sample_rate, config.follow_parent), (0.0, false));
    assert!(!read(&[("OTEL_SDK_DISABLED", "true")]).unwrap().enabled);
    assert!(!read(&[("OTEL_TRACES_EXPORTER", "none")]).unwrap().enabled);
    for (name, format) in [
        ("jaeger", ExportFormat::Jaeger),
        ("zipkin", ExportFormat::Zipkin),
    ] {
        assert_eq!(
            read(&[("OTEL_TRACES_EXPORTER", name)])
                .unwrap()
                .export_format,
            format
        );
    }
    let protocols = [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
        ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "grpc"),
    ];
    assert_eq!(read(&protocols).unwrap().protocol, ExportProtocol::Grpc);
    let conventions = |list| {
        read(&[("OTEL_SEMCONV_STABILITY_OPT_IN", list)])
            .unwrap()
            .older_db_attributes
    };
    assert_eq!(
        ["database", "http, database", "http", "database/dup", ""].map(conventions),
        [false, false, true, true, true]
    );
    assert!(
        read(&[("SVC_TRACING_SQL_COMMENTS", "true")])
            .unwrap()
            .sql_comments
    );
    let attributes = [(
        "OTEL_RESOURCE_ATTRIBUTES",
        "service.name=my%20shop,service.version=2",
    )];
    let config = read(&attributes).unwrap();
    assert_eq!(
        (
            config.service_name.as_str(),
            config.service_version.as_str()
        ),
        ("my shop", "2")
    );
}

#[test]
fn unusable_values_are_refused_with_the_allowed_ones() {
    let cases = [
        (
            "OTEL_TRACES_EXPORTER",
            "carrier-pigeon",
            "it must be otlp, jaeger, zipkin or none",
        ),
        (
            "OTEL_EXPORTER_OTLP_PROTOCOL",
            "http/json",
            "it must be grpc or http/protobuf",
        ),
        ("OTEL_TRACES_SAMPLER", "sometimes", "it must be always_on"),
        ("SVC_TRACING_SQL_COMMENTS", "perhaps", "true"),
    ];
    for (name, value, expected) in cases {
        let error = read(&[(name, value)]).unwrap_err();
        assert!(
            error.starts_with(&format!("{name} is {value:?}; ")) && error.contains(expected),
            "{error}"
        );
    }
    let error = read(&[
        ("OTEL_TRACES_SAMPLER", "traceidratio"),
        ("OTEL_TRACES_SAMPLER_ARG", "2"),
    ])
    .unwrap_err();
    assert!(
        error.contains("OTEL_TRACES_SAMPLER_ARG is \"2\""),
        "{error}"
    );
}

#[test]
fn a_configuration_is_validated() {
    let refused = |config| {
        setup_tracing(Router::new(), config)
            .unwrap_err()
            .to_string()
    };
    for sample_rate in [-0.1, 1.1, f64::NAN] {
        let error = refused(TracingConfig {
            sample_rate,
            ..TracingConfig::default()
        });
        assert!(error.contains("from 0.0 to 1.0"), "{error}");
    }
    let at = |endpoint: &str| TracingConfig {
        export_endpoint: Some(endpoint.to_owned()),
        ..TracingConfig::default()
    };
    let error = refused(at("localhost:4318"));
    assert!(error.contains("such as http://localhost:4318"), "{error}");
    let error = refused(at("http://me:hunter2@collector:4318"));
    assert!(
        error.contains("OTEL_EXPORTER_OTLP_HEADERS") && !error.contains("hunter2"),
        "{error}"
    );
}
