import Model
import Testing

@testable import WebFront

/// Environment variables of other servers and their translation.
@Suite struct PeerSettingsTests {
    private func options(
        _ environment: [String: String], _ grammar: String = "imgproxy"
    ) throws -> [String: String] {
        let entries = try PeerSettings.translate(environment, grammar: grammar).entries
        return Dictionary(uniqueKeysWithValues: entries.map { ($0.option.name, $0.option.value) })
    }

    @Test(
        arguments: [
            ("imgproxy", ["IMGPROXY_TTL": "60"], ["gateway-assume-fresh": "60"]),
            ("imgproxy", ["IMGPROXY_BIND": ":80"], ["gateway": ":80"]),
            ("imgproxy", ["IMGPROXY_MAX_SRC_RESOLUTION": "16.8"], ["pixel-limit": "16800000"]),
            ("imgproxy", ["IMGPROXY_WORKERS": "3"], ["decode": "3", "transform": "3"]),
            ("imgproxy", ["IMGPROXY_ONLY_PRESETS": "true"], ["gateway-only-presets": ""]),
            ("imgproxy", ["IMGPROXY_ONLY_PRESETS": "false"], [:]),
            (
                "imgproxy", ["IMGPROXY_PRESETS": "a=w:1,b=w:2"],
                ["gateway-preset-lines": "a=w:1\nb=w:2"]
            ),
            (
                "imgproxy", ["IMGPROXY_AUTO_WEBP": "1", "IMGPROXY_AUTO_AVIF": "true"],
                ["gateway-offer": "avif,webp"]
            ),
            (
                "imgproxy", ["IMGPROXY_AUTO_WEBP": "0", "IMGPROXY_AUTO_AVIF": "false"],
                ["gateway-offer": "none"]
            ),
            (
                "imgproxy", ["IMGPROXY_AVIF_SPEED": "8", "IMGPROXY_WEBP_EFFORT": "6"],
                ["gateway-effort": "avif=1,webp=6"]
            ),
            (
                "imgproxy", ["IMGPROXY_WATERMARK_DATA": "aGk="],
                ["gateway-watermark": "data:;base64,aGk="]
            ),
            ("imgproxy", ["IMGPROXY_USE_S3": "false", "IMGPROXY_USE_ETAG": "true"], [:]),
            ("imgproxy", ["IMGPROXY_SECRET": "", "SECURITY_KEY": "x", "HOME": "/"], [:]),
            ("imgproxy", ["IMGPROXY_LOG_LEVEL": "warn"], ["log-level": "warning"]),
            ("imgproxy", ["IMGPROXY_WRITE_TIMEOUT": "9"], ["gateway-timeout": "9"]),
            ("thumbor", ["ALLOW_UNSAFE_URL": "True"], ["gateway-unsigned": ""]),
            ("thumbor", ["THUMBOR_QUALITY": "70"], ["gateway-quality": "70"]),
            ("thumbor", ["MAX_PIXELS": "75e6"], [:]),
            ("thumbor", ["THUMBOR_MAX_PIXELS": "75e6"], ["pixel-limit": "75000000"]),
            (
                "thumbor", ["WEBP_QUALITY": "60", "AVIF_QUALITY": "None"],
                ["gateway-format-quality": "webp=60"]
            ),
            (
                "thumbor", ["ALLOWED_SOURCES": "['a.com', '*.b.com']"],
                [
                    "gateway-allowed-sources":
                        "http://a.com/,https://a.com/,http://*.b.com/,https://*.b.com/"
                ]
            ),
            (
                "thumbor", ["THUMBOR_LOADER": "thumbor.loaders.https_loader"],
                ["gateway-default-scheme": "https"]
            ),
            ("imagor", ["IMAGOR_CACHE_HEADER_TTL": "168h"], ["gateway-assume-fresh": "604800"]),
            ("imagor", ["HTTP_LOADER_DEFAULT_SCHEME": "nil"], ["gateway-default-scheme": "none"]),
            ("imagor", ["IMAGOR_REQUEST_TIMEOUT": "1m30s"], ["gateway-timeout": "90"]),
            (
                "imagor", ["IMAGOR_SIGNER_TYPE": "sha256", "IMAGOR_SIGNER_TRUNCATE": "40"],
                ["gateway-signature-algorithm": "sha256", "gateway-signature-size": "30"]
            ),
            ("imagor", ["IMAGOR_SIGNER_TRUNCATE": "0", "SECURITY_KEY": "x"], [:]),
            ("thumbor", ["IMAGOR_SIGNER_TYPE": "x"], [:]),
            // Unrelated programs use such names.
            ("thumbor", ["METRICS": "x", "SENTRY_DSN_URL": "x", "STORAGE_EMULATOR": "x"], [:]),
            ("thumbor", ["LOG_LEVEL": "x", "AWS_REGION": "x"], [:]),
            ("imagor", ["LOG_LEVEL": "x", "VIPS_CONCURRENCY": "4", "AWS_REGION": "x"], [:]),
            ("iiif", ["IMGPROXY_SECRET": "x", "SECURITY_KEY": "x"], [:]),
        ] as [(String, [String: String], [String: String])])
    func variablesBecomeOptions(
        grammar: String, environment: [String: String], wanted: [String: String]
    ) throws {
        #expect(try options(environment, grammar) == wanted)
    }

    @Test(arguments: [
        ("imgproxy", "IMGPROXY_SECRET", "x", "--gateway-keys"),
        ("imgproxy", "IMGPROXY_USE_S3", "true", "loaders"),
        ("imgproxy", "IMGPROXY_USE_GCS", "1", "gs://"),
        ("imgproxy", "IMGPROXY_NO_SUCH_THING", "1", "Proto/Migration"),
        ("imgproxy", "IMGPROXY_QUALITY", "x", "an integer"),
        ("imgproxy", "IMGPROXY_AVIF_SPEED", "11", "from 0 to 10"),
        ("imgproxy", "IMGPROXY_ENFORCE_WEBP", "true", "--gateway-offer"),
        ("imgproxy", "IMGPROXY_ALLOW_LOOPBACK_SOURCE_ADDRESSES", "true", "--allow-address"),
        ("imgproxy", "IMGPROXY_SALT", "73", "IMGPROXY_KEY"),
        ("imgproxy", "IMGPROXY_OBJECT_DETECTION_NET", "/net", "g:sm"),
        ("imgproxy", "IMGPROXY_ENV_AWS_SECRET_ID", "x", "env_file"),
        ("thumbor", "THUMBOR_STORAGE", "thumbor_aws.storage", "--cache-dir"),
        ("thumbor", "THUMBOR_DETECTORS", "['x']", "smart"),
        ("thumbor", "THUMBOR_NO_SUCH_THING", "1", "Proto/Migration"),
        ("thumbor", "ALLOWED_SOURCES", "[re.compile(r'.*')]", "host names"),
        ("imagor", "IMAGOR_SIGNER_TYPE", "md5", "sha512"),
        ("imagor", "IMAGOR_SIGNER_TRUNCATE", "21", "multiple of 4"),
        ("imagor", "IMAGOR_SIGNER_TRUNCATE", "8", "multiple of 4"),
        ("imagor", "FILE_LOADER_BASE_DIR", "/a", "--local-root"),
    ])
    func anUnsupportedOneIsRefusedByNameWithAdvice(
        grammar: String, variable: String, value: String, advice: String
    ) {
        let fault = #expect(throws: PeerSettings.InvalidVariable.self) {
            try options([variable: value], grammar)
        }
        #expect(fault?.variable == variable)
        #expect(fault?.description.contains(advice) == true, "\(fault as Any)")
    }

    /// The variables of imgproxy's documentation, versions 3.19 to 4, without their prefix.
    private static let imgproxys = """
        ABS_ALLOWED_BUCKETS ABS_DENIED_BUCKETS ABS_ENDPOINT ABS_KEY ABS_NAME
        AIRBRAKE_ENVIRONMENT AIRBRAKE_PROJECT_ID AIRBRAKE_PROJECT_KEY ALLOWED_INFO_OPTIONS
        ALLOWED_PROCESSING_OPTIONS ALLOWED_SOURCES ALLOW_BYPASS_CACHE
        ALLOW_LINK_LOCAL_SOURCE_ADDRESSES ALLOW_LOOPBACK_SOURCE_ADDRESSES ALLOW_ORIGIN
        ALLOW_PRIVATE_SOURCE_ADDRESSES ALLOW_SECURITY_OPTIONS ALWAYS_RASTERIZE_SVG
        ARGUMENTS_SEPARATOR AUTOQUALITY_ALLOWED_ERROR AUTOQUALITY_AVIF_NET
        AUTOQUALITY_FORMAT_MAX AUTOQUALITY_FORMAT_MIN AUTOQUALITY_JPEG_NET AUTOQUALITY_JXL_NET
        AUTOQUALITY_MAX AUTOQUALITY_MAX_RESOLUTION AUTOQUALITY_METHOD AUTOQUALITY_MIN
        AUTOQUALITY_ML_CPU_PINNING AUTOQUALITY_ML_EXECUTION_MODE
        AUTOQUALITY_ML_INFERENCE_NUM_STREAMS AUTOQUALITY_ML_INFERENCE_NUM_THREADS
        AUTOQUALITY_TARGET AUTOQUALITY_WEBP_NET AUTO_AVIF AUTO_JXL AUTO_ROTATE AUTO_WEBP
        AVIF_SPEED AVIF_SUBSAMPLE BASE64_URL_INCLUDES_FILENAME BASE_URL BEST_FORMAT_ALLOW_SKIPS
        BEST_FORMAT_BY_DEFAULT BEST_FORMAT_COMPLEXITY_THRESHOLD BEST_FORMAT_MAX_RESOLUTION BIND
        BUFFER_POOL_CALIBRATION_THRESHOLD BUGSNAG_KEY BUGSNAG_STAGE CACHE_ABS_ENDPOINT
        CACHE_ABS_KEY CACHE_ABS_NAME CACHE_BUCKET CACHE_CONTROL_PASSTHROUGH CACHE_FS_ROOT
        CACHE_GCS_ENDPOINT CACHE_GCS_KEY CACHE_KEY_COOKIES CACHE_KEY_HEADERS CACHE_PATH_PREFIX
        CACHE_REPORT_ERRORS CACHE_S3_ASSUME_ROLE_ARN CACHE_S3_ASSUME_ROLE_EXTERNAL_ID
        CACHE_S3_ENDPOINT CACHE_S3_ENDPOINT_USE_PATH_STYLE CACHE_S3_REGION
        CACHE_S3_USE_DECRYPTION_CLIENT CACHE_SWIFT_API_KEY CACHE_SWIFT_AUTH_URL
        CACHE_SWIFT_AUTH_VERSION CACHE_SWIFT_CONNECT_TIMEOUT_SECONDS CACHE_SWIFT_DOMAIN
        CACHE_SWIFT_TENANT CACHE_SWIFT_TIMEOUT_SECONDS CACHE_SWIFT_USERNAME CACHE_TAGS_FORMAT
        CACHE_USE CLASSIFICATION_CLASSES CLASSIFICATION_CPU_PINNING
        CLASSIFICATION_EXECUTION_MODE CLASSIFICATION_INFERENCE_NUM_STREAMS
        CLASSIFICATION_INFERENCE_NUM_THREADS CLASSIFICATION_LAYOUT CLASSIFICATION_NET
        CLASSIFICATION_NET_SIZE CLASSIFICATION_NORMALIZATION CLASSIFICATION_THRESHOLD
        CLIENT_KEEP_ALIVE_TIMEOUT CLOUD_WATCH_NAMESPACE CLOUD_WATCH_REGION
        CLOUD_WATCH_SERVICE_NAME COLOR_PROFILES_DIR CONCURRENCY COOKIE_BASE_URL
        COOKIE_PASSTHROUGH COOKIE_PASSTHROUGH_ALL CUSTOM_HEADERS_SEPARATOR
        CUSTOM_REQUEST_HEADERS CUSTOM_RESPONSE_HEADERS DATADOG_ENABLE
        DATADOG_ENABLE_ADDITIONAL_METRICS DATADOG_PROPAGATE_EXTERNAL DEVELOPMENT_ERRORS_MODE
        DISABLE_SHRINK_ON_LOAD DOWNLOAD_BUFFER_SIZE DOWNLOAD_TIMEOUT ENABLE_AVIF_DETECTION
        ENABLE_CLIENT_HINTS ENABLE_DEBUG_HEADERS ENABLE_RAW_FORMATS ENABLE_VIDEO_THUMBNAILS
        ENABLE_WEBP_DETECTION ENFORCE_AVIF ENFORCE_JXL ENFORCE_THUMBNAIL ENFORCE_WEBP
        ENV_AWS_SECRET_ID ENV_AWS_SECRET_REGION ENV_AWS_SECRET_VERSION_ID
        ENV_AWS_SECRET_VERSION_STAGE ENV_AWS_SSM_PARAMETERS_PATH ENV_AWS_SSM_PARAMETERS_REGION
        ENV_GCP_KEY ENV_GCP_SECRET_ID ENV_GCP_SECRET_PROJECT_ID ENV_GCP_SECRET_VERSION_ID
        ENV_LOCAL_FILE_PATH ETAG_BUSTER FAIL_ON_DEPRECATION FALLBACK_IMAGES_CACHE_SIZE
        FALLBACK_IMAGE_DATA FALLBACK_IMAGE_HTTP_CODE FALLBACK_IMAGE_PATH
        FALLBACK_IMAGE_PREPROCESS_URL FALLBACK_IMAGE_TTL FALLBACK_IMAGE_URL FORMAT_QUALITY
        FREE_MEMORY_INTERVAL GCS_ALLOWED_BUCKETS GCS_DENIED_BUCKETS GCS_ENDPOINT GCS_KEY
        GRACEFUL_STOP_TIMEOUT HEALTH_CHECK_MESSAGE HEALTH_CHECK_PATH HONEYBADGER_ENV
        HONEYBADGER_KEY IGNORE_SSL_VERIFICATION INFO_ONLY_PRESETS INFO_PRESETS INFO_PRESETS_PATH
        JPEG_NO_SUBSAMPLE JPEG_OPTIMIZE_SCANS JPEG_OVERSHOOT_DERINGING JPEG_PROGRESSIVE
        JPEG_QUANT_TABLE JPEG_TRELLIS_QUANT JXL_EFFORT KEEP_ALIVE_TIMEOUT KEEP_COPYRIGHT KEY
        LAST_MODIFIED_BUSTER LICENSE_DEVELOPMENT_MODE LICENSE_KEY LOCAL_FILESYSTEM_ROOT
        LOG_FORMAT LOG_LEVEL MALLOC MAX_ANIMATION_FRAMES MAX_ANIMATION_FRAME_RESOLUTION
        MAX_CHAINED_PIPELINES MAX_CLIENTS MAX_REDIRECTS MAX_RESULT_DIMENSION MAX_SRC_FILE_SIZE
        MAX_SRC_RESOLUTION MAX_SVG_CHECK_BYTES ML_CPU_PINNING ML_EXECUTION_MODE
        ML_INFERENCE_NUM_THREADS ML_NUM_STREAMS NETWORK NEW_RELIC_APP_NAME NEW_RELIC_KEY
        NEW_RELIC_LABELS NEW_RELIC_PROPAGATE_EXTERNAL OBJECT_DETECTION_CLASSES
        OBJECT_DETECTION_CONFIDENCE_THRESHOLD OBJECT_DETECTION_CONFIG
        OBJECT_DETECTION_CPU_PINNING OBJECT_DETECTION_EXECUTION_MODE
        OBJECT_DETECTION_FALLBACK_TO_SMART_CROP OBJECT_DETECTION_GRAVITY_MODE
        OBJECT_DETECTION_INFERENCE_NUM_STREAMS OBJECT_DETECTION_INFERENCE_NUM_THREADS
        OBJECT_DETECTION_NET OBJECT_DETECTION_NET_SIZE OBJECT_DETECTION_NET_TYPE
        OBJECT_DETECTION_NMS_THRESHOLD OBJECT_DETECTION_SWAP_RB OBJECT_DETECTION_WEIGHTS
        ONLY_PRESETS OPEN_TELEMETRY_CLIENT_CERT OPEN_TELEMETRY_CLIENT_KEY
        OPEN_TELEMETRY_CONNECTION_TIMEOUT OPEN_TELEMETRY_ENABLE OPEN_TELEMETRY_ENABLE_LOGS
        OPEN_TELEMETRY_ENABLE_METRICS OPEN_TELEMETRY_ENDPOINT OPEN_TELEMETRY_GRPC_INSECURE
        OPEN_TELEMETRY_PROPAGATE_EXTERNAL OPEN_TELEMETRY_PROPAGATORS OPEN_TELEMETRY_PROTOCOL
        OPEN_TELEMETRY_SERVER_CERT OPEN_TELEMETRY_SERVICE_NAME OPEN_TELEMETRY_TRACE_ID_GENERATOR
        PATH_PREFIX PDF_NO_BACKGROUND PNG_INTERLACED PNG_QUANTIZATION_COLORS PNG_QUANTIZE
        PNG_UNLIMITED PREFERRED_FORMATS PRESERVE_HDR PRESETS PRESETS_PATH PRESETS_SEPARATOR
        PROMETHEUS_BIND PROMETHEUS_NAMESPACE QUALITY READ_REQUEST_TIMEOUT READ_TIMEOUT
        REPORT_DOWNLOADING_ERRORS REQUESTS_QUEUE_SIZE REQUEST_HEADERS_PASSTHROUGH
        RESPONSE_HEADERS_PASSTHROUGH RETURN_ATTACHMENT S3_ACCESS_POINTS S3_ALLOWED_BUCKETS
        S3_ASSUME_ROLE_ARN S3_ASSUME_ROLE_EXTERNAL_ID S3_DENIED_BUCKETS S3_ENDPOINT
        S3_ENDPOINT_USE_PATH_STYLE S3_MULTI_REGION S3_REGION S3_USE_DECRYPTION_CLIENT SALT
        SANITIZE_SVG SECRET SENTRY_DSN SENTRY_ENVIRONMENT SENTRY_RELEASE SERVER_NAME
        SET_CANONICAL_HEADER SIGNATURE_SIZE SKIP_PROCESSING_FORMATS SMART_CROP_ADVANCED
        SMART_CROP_ADVANCED_MODE SMART_CROP_FACE_DETECTION SOURCE_URL_ENCRYPTION_KEY
        SOURCE_URL_QUERY_SEPARATOR SO_REUSEPORT STRIP_COLOR_PROFILE STRIP_METADATA
        STRIP_METADATA_DPI SVG_FIX_UNSUPPORTED SVG_UNLIMITED SWIFT_ALLOWED_BUCKETS SWIFT_API_KEY
        SWIFT_AUTH_URL SWIFT_AUTH_VERSION SWIFT_DENIED_BUCKETS SWIFT_DOMAIN SWIFT_TENANT
        SWIFT_USERNAME SYSLOG_ADDRESS SYSLOG_ENABLE SYSLOG_LEVEL SYSLOG_NETWORK SYSLOG_TAG
        TIMEOUT TRUSTED_SIGNATURES TTL UNSHARP_MASKING_DIVIDER UNSHARP_MASKING_MODE
        UNSHARP_MASKING_WEIGHT URL_REPLACEMENTS USER_AGENT USE_ABS USE_ETAG USE_GCS
        USE_LAST_MODIFIED USE_LINEAR_COLORSPACE USE_S3 USE_SWIFT VIDEO_THUMBNAIL_KEYFRAMES
        VIDEO_THUMBNAIL_MAX_ANALYZE_DURATION VIDEO_THUMBNAIL_PROBE_SIZE VIDEO_THUMBNAIL_SECOND
        VIDEO_THUMBNAIL_TILE_AUTO_KEYFRAMES WATERMARKS_CACHE_SIZE WATERMARK_DATA
        WATERMARK_OPACITY WATERMARK_PATH WATERMARK_PREPROCESS_URL WATERMARK_URL WEBP_COMPRESSION
        WEBP_EFFORT WEBP_PRESET WEBP_SMART_SUBSAMPLE WORKERS WRITE_RESPONSE_TIMEOUT
        WRITE_TIMEOUT
        """.split { " \n".contains($0) }.map { "IMGPROXY_\($0)" }

    /// Each is translated, or refused with advice of its own.
    @Test(arguments: imgproxys) func everyVariableOfImgproxyIsKnown(name: String) throws {
        #expect(throws: Never.self) { try PeerSettings.translate([name: ""], grammar: "imgproxy") }
        for value in ["1", "x"] {
            do throws(PeerSettings.InvalidVariable) {
                _ = try PeerSettings.translate([name: value], grammar: "imgproxy")
            } catch {
                #expect(error.variable == name && !error.advice.contains("Proto/Migration"))
            }
        }
    }

    @Test func settingsWithoutAMeaningAreAccepted() throws {
        for name in ["IMGPROXY_LICENSE_KEY", "IMGPROXY_MAX_SVG_CHECK_BYTES"] {
            #expect(try options([name: "9"]).isEmpty)
        }
    }

    @Test func keysAreOnNoCommandLine() throws {
        let pairs = try PeerSettings.translate(
            ["IMGPROXY_KEY": "6b,6c", "IMGPROXY_SALT": "73,74"], grammar: "imgproxy")
        #expect(pairs.keyLines == ["6b 73", "6c 74"] && pairs.entries.isEmpty)
        #expect(pairs.keyVariables == ["IMGPROXY_KEY", "IMGPROXY_SALT"])
        for (grammar, variable, key) in [
            ("thumbor", "SECURITY_KEY", "a"), ("imagor", "IMAGOR_SECRET", "b"),
        ] {
            let one = try PeerSettings.translate([variable: key], grammar: grammar)
            #expect(one.keyLines == [key] && one.keyVariables == [variable])
        }
        #expect(throws: PeerSettings.InvalidVariable.self) {
            try PeerSettings.translate(["IMGPROXY_KEY": "6b"], grammar: "imgproxy")
        }
    }

    /// Each setting is an option of the program.
    @Test(arguments: GatewaySetting.allCases)
    func optionsOfTheGatewayAreItsSettings(setting: GatewaySetting) {
        let lines = GatewayHelp.text(columns: 100).split(separator: "\n")
        let name = "  --\(setting.rawValue)"
        #expect(lines.contains { $0 == name || $0.hasPrefix(name + " ") })
        #expect(lines.allSatisfy { $0.count <= 100 })
    }
}
