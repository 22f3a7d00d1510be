// The variables of imgproxy 3.19 to 4, according to its documentation ("Configuration options" and
// "Loading environment variables").
extension PeerSetting {
    static let imgproxy: [PeerSetting] =
        imgproxyServer + imgproxySecurity + imgproxyOutput + imgproxySources + imgproxyAliases
        + imgproxyPaid + imgproxyAbsent

    private static let imgproxyServer: [PeerSetting] =
        [
            text("IMGPROXY_BIND", "gateway"),
            always(
                "IMGPROXY_NETWORK", ["tcp"],
                "IMGPROXY_BIND must be an address and a port; for a Unix socket use "
                    + "--gateway unix:/PATH"
            ),
            seconds("IMGPROXY_TIMEOUT", .timeout),
            seconds("IMGPROXY_READ_REQUEST_TIMEOUT", .headerTimeout),
            seconds("IMGPROXY_KEEP_ALIVE_TIMEOUT", .idleTimeout),
            seconds("IMGPROXY_DOWNLOAD_TIMEOUT", "transfer-timeout"),
            count("IMGPROXY_WORKERS", ["decode", "transform"]),
            count("IMGPROXY_REQUESTS_QUEUE_SIZE", ["queue-limit"], none: 0),
            count("IMGPROXY_MAX_CLIENTS", .connections, none: 0),
            text("IMGPROXY_PATH_PREFIX", .pathPrefix),
            userAgent("IMGPROXY_USER_AGENT"),
            seconds("IMGPROXY_TTL", .assumeFresh),
            always(
                "IMGPROXY_CACHE_CONTROL_PASSTHROUGH", PeerValue.yes,
                "Cache-Control of origins is always passed on: use a rule with "
                    + "ignore-cache-control in the --config file"),
            always("IMGPROXY_USE_ETAG", PeerValue.yes, "ETags are always sent"),
            always(
                "IMGPROXY_USE_LAST_MODIFIED", PeerValue.yes,
                "Last-Modified of origins is always forwarded"),
            text("IMGPROXY_PROMETHEUS_BIND", .metricsListen),
            PeerSetting("IMGPROXY_LOG_LEVEL", expected: "error, warn, info or debug") { text in
                ["error", "warn", "info", "debug"].contains(text)
                    ? [PeerOption("log-level", text == "warn" ? "warning" : text)]
                    : nil
            },
            PeerSetting("IMGPROXY_LOG_FORMAT", expected: "pretty, structured, json or gcp") {
                text in
                switch text {
                case "pretty", "structured": [PeerOption("log-format", "text")]
                case "json", "gcp": [PeerOption("log-format", "json")]
                default: nil
                }
            },
        ]

    private static let imgproxySecurity: [PeerSetting] =
        [
            PeerSetting("IMGPROXY_KEY", .keys), PeerSetting("IMGPROXY_SALT", .keys),
            count("IMGPROXY_SIGNATURE_SIZE", .signatureSize),
            PeerSetting("IMGPROXY_MAX_SRC_RESOLUTION", expected: "a number of megapixels") { text in
                guard let number = Double(text), (0.001...1_000_000).contains(number) else {
                    return nil
                }
                return [PeerOption("pixel-limit", "\(Int((number * 1_000_000).rounded()))")]
            },
            count("IMGPROXY_MAX_SRC_FILE_SIZE", ["body-limit"], none: 0),
            count("IMGPROXY_MAX_ANIMATION_FRAMES", .maxAnimationFrames),
            count("IMGPROXY_MAX_REDIRECTS", ["redirect-limit"]),
            text("IMGPROXY_ALLOW_ORIGIN", .allowOrigin),
            flag(
                "IMGPROXY_COOKIE_PASSTHROUGH", [PeerOption(.passHeaders, "cookie", isPart: true)]),
            text("IMGPROXY_COOKIE_BASE_URL", .passHeadersTo),
            PeerSetting(
                "IMGPROXY_REQUEST_HEADERS_PASSTHROUGH",
                expected: "a comma-separated list of header names"
            ) { text in
                [PeerOption(.passHeaders, text, isPart: true)]
            },
            text("IMGPROXY_CUSTOM_RESPONSE_HEADERS", .responseHeaders),
            always(
                "IMGPROXY_CUSTOM_HEADERS_SEPARATOR", ["\\;"],
                "headers are always separated by \\;"),
            text("IMGPROXY_ALLOWED_SOURCES", .allowedSources),
            always(
                "IMGPROXY_SANITIZE_SVG", PeerValue.yes,
                "SVG is always served so that scripts in it cannot run"),
        ]
        + absent(
            "IMGPROXY_ALLOW_LOOPBACK_SOURCE_ADDRESSES",
            "IMGPROXY_ALLOW_LINK_LOCAL_SOURCE_ADDRESSES",
            "IMGPROXY_ALLOW_PRIVATE_SOURCE_ADDRESSES", off: PeerValue.no,
            advice:
                "private addresses are blocked: allow some with --allow-address IP:PORT, or all "
                + "with --allow-private-networks")
        + absent(
            "IMGPROXY_TRUSTED_SIGNATURES", "IMGPROXY_SECRET",
            advice:
                "only signatures authorize requests: sign URLs with a separate key, one line in "
                + "--gateway-keys")
        + absent(
            "IMGPROXY_SOURCE_URL_ENCRYPTION_KEY",
            advice: "encrypted source URLs are not supported: use plain or Base64 URLs")
        + absent(
            "IMGPROXY_ALLOWED_PROCESSING_OPTIONS", "IMGPROXY_ALLOWED_INFO_OPTIONS",
            advice: "options cannot be restricted individually: use --gateway-presets and "
                + "--gateway-only-presets")
        + absent(
            "IMGPROXY_MAX_ANIMATION_FRAME_RESOLUTION", "IMGPROXY_MAX_RESULT_DIMENSION",
            "IMGPROXY_MAX_CHAINED_PIPELINES", off: ["0"],
            advice: "use --pixel-limit, --side-limit and --page-limit")
        + absent(
            "IMGPROXY_IGNORE_SSL_VERIFICATION", off: PeerValue.no,
            advice:
                "certificates are always verified: pass your CA with --ca-file, or exempt one host "
                + "with tls-verify: no in a rule")
        + absent(
            "IMGPROXY_PNG_UNLIMITED", "IMGPROXY_TIFF_UNLIMITED", "IMGPROXY_SVG_UNLIMITED",
            "IMGPROXY_ALLOW_SECURITY_OPTIONS", "IMGPROXY_ALLOW_BYPASS_CACHE", off: PeerValue.no,
            advice: "URLs cannot exceed the operator's limits (--pixel-limit, --body-limit)")
        + absent(
            "IMGPROXY_COOKIE_PASSTHROUGH_ALL", off: PeerValue.no,
            advice: "cookies are sent only to the sources in --gateway-pass-headers-to")

    private static let imgproxyOutput: [PeerSetting] =
        [
            count("IMGPROXY_QUALITY", .quality),
            text("IMGPROXY_FORMAT_QUALITY", .formatQuality),
            progressive("IMGPROXY_JPEG_PROGRESSIVE", "jpeg"),
            progressive("IMGPROXY_PNG_INTERLACED", "png"),
            avifSpeed("IMGPROXY_AVIF_SPEED"),
            effort("IMGPROXY_WEBP_EFFORT", of: "webp", in: 1...6) { $0 },
            effort("IMGPROXY_JXL_EFFORT", of: "jxl", in: 1...9) { min(8, max(3, $0)) },
            offer("IMGPROXY_AUTO_AVIF", "avif"), offer("IMGPROXY_AUTO_JXL", "jxl"),
            offer("IMGPROXY_AUTO_WEBP", "webp"),
            flag("IMGPROXY_ENABLE_CLIENT_HINTS", [PeerOption(.clientHints)]),
            text("IMGPROXY_WATERMARK_URL", .watermark),
            text("IMGPROXY_WATERMARK_PATH", .watermark),
            PeerSetting("IMGPROXY_WATERMARK_DATA", expected: "Base64") { text in
                [PeerOption(.watermark, "data:;base64,\(text)")]
            },
            text("IMGPROXY_WATERMARK_OPACITY", .watermarkOpacity),
            text("IMGPROXY_FALLBACK_IMAGE_URL", .fallback),
            text("IMGPROXY_FALLBACK_IMAGE_PATH", .fallback),
            PeerSetting("IMGPROXY_FALLBACK_IMAGE_HTTP_CODE", expected: "an HTTP status") { text in
                [PeerOption(.fallbackStatus, text == "0" ? "error" : text)]
            },
            seconds("IMGPROXY_FALLBACK_IMAGE_TTL", .fallbackMaxAge, none: 0),
            flag("IMGPROXY_KEEP_COPYRIGHT", [], else: [PeerOption(.metadata, "none")]),
            flag("IMGPROXY_STRIP_METADATA", [], else: [PeerOption(.metadata, "all")]),
            text("IMGPROXY_SKIP_PROCESSING_FORMATS", .skipProcessingFormats),
            always(
                "IMGPROXY_STRIP_COLOR_PROFILE", PeerValue.yes,
                "colors are converted to sRGB: keep profiles with scp:0 in a preset named default"),
            always(
                "IMGPROXY_AUTO_ROTATE", PeerValue.yes, "images are always rotated upright"),
            always(
                "IMGPROXY_PREFERRED_FORMATS", ["jpeg,png,gif"],
                "if the URL has no format, the source format or one of --gateway-offer is used"),
        ]
        + absent(
            "IMGPROXY_ENFORCE_WEBP", "IMGPROXY_ENFORCE_AVIF", "IMGPROXY_ENFORCE_JXL",
            off: PeerValue.no,
            advice: "the format in the URL is always used: leave it out, and use --gateway-offer")
        + absent(
            "IMGPROXY_PRESERVE_HDR", "IMGPROXY_ENFORCE_THUMBNAIL",
            "IMGPROXY_USE_LINEAR_COLORSPACE", "IMGPROXY_DISABLE_SHRINK_ON_LOAD",
            "IMGPROXY_RETURN_ATTACHMENT", "IMGPROXY_ALWAYS_RASTERIZE_SVG", off: PeerValue.no,
            advice: "this setting is not supported: use ph:1 or att:1 in a preset named default")
        + absent(
            "IMGPROXY_WATERMARK_PREPROCESS_URL", "IMGPROXY_FALLBACK_IMAGE_PREPROCESS_URL",
            off: PeerValue.no,
            advice: "watermark_url and fallback_image_url must have complete URLs")
        + absent(
            "IMGPROXY_FALLBACK_IMAGE_DATA",
            advice: "save the image to a file, and pass it with --gateway-fallback")
        + absent(
            "IMGPROXY_JPEG_*", "IMGPROXY_PNG_*", "IMGPROXY_WEBP_*", "IMGPROXY_AVIF_*",
            off: PeerValue.no,
            advice:
                "the only encoder settings are quality, progressive and effort: use "
                + "--gateway-quality, --gateway-progressive and --gateway-effort")

    private static let imgproxySources: [PeerSetting] =
        [
            presets,
            always("IMGPROXY_PRESETS_SEPARATOR", [","], "write presets to a file, one per line"),
            text("IMGPROXY_PRESETS_PATH", .presets),
            flag("IMGPROXY_ONLY_PRESETS", [PeerOption(.onlyPresets)]),
            text("IMGPROXY_ARGUMENTS_SEPARATOR", .argumentsSeparator),
            text("IMGPROXY_BASE_URL", .baseURL),
            text("IMGPROXY_URL_REPLACEMENTS", .urlReplacements),
            text("IMGPROXY_LOCAL_FILESYSTEM_ROOT", "local-root"),
            always(
                "IMGPROXY_SOURCE_URL_QUERY_SEPARATOR", ["?"], "the query separator is always ?"),
        ]
        + absent(
            "IMGPROXY_USE_S3", "IMGPROXY_S3_*", off: PeerValue.no,
            advice: "add a loader of kind s3 to `loaders` in the --config file")
        + absent(
            "IMGPROXY_USE_GCS", "IMGPROXY_GCS_*", off: PeerValue.no,
            advice:
                "add a loader of kind s3 with the endpoint https://storage.googleapis.com, the "
                + "pattern gs://* and Google HMAC keys to `loaders` in the --config file")
        + absent(
            "IMGPROXY_USE_ABS", "IMGPROXY_ABS_*", "IMGPROXY_USE_SWIFT", "IMGPROXY_SWIFT_*",
            off: PeerValue.no,
            advice: "use https URLs for these sources, or an S3-compatible proxy")
        + absent(
            "IMGPROXY_BASE64_URL_INCLUDES_FILENAME", off: PeerValue.no,
            advice: "leave the file name out of URLs, and set it with fn:")

    /// Presets separated by commas; a preset that contains commas needs a line of its own in a
    /// file.
    private static let presets = PeerSetting(
        "IMGPROXY_PRESETS", expected: "a comma-separated list of NAME=OPTIONS"
    ) { text in
        [PeerOption(.presetLines, text.map { $0 == "," ? "\n" : $0 }.text)]
    }

    private static func userAgent(_ name: String) -> PeerSetting {
        PeerSetting(name, expected: "text without %current_version") { text in
            text.contains("%") ? nil : [PeerOption("user-agent", text)]
        }
    }

    /// The former names of settings.
    private static let imgproxyAliases: [PeerSetting] = [
        count("IMGPROXY_CONCURRENCY", ["decode", "transform"]),
        seconds("IMGPROXY_READ_TIMEOUT", .headerTimeout),
        seconds("IMGPROXY_WRITE_TIMEOUT", .timeout),
        offer("IMGPROXY_ENABLE_AVIF_DETECTION", "avif"),
        offer("IMGPROXY_ENABLE_WEBP_DETECTION", "webp"),
    ]

    /// The settings of the paid edition without a part of their own above.
    private static let imgproxyPaid: [PeerSetting] =
        unneeded(
            "IMGPROXY_LICENSE_KEY", "IMGPROXY_LICENSE_DEVELOPMENT_MODE",
            "IMGPROXY_WATERMARKS_CACHE_SIZE", "IMGPROXY_FALLBACK_IMAGES_CACHE_SIZE",
            "IMGPROXY_MAX_SVG_CHECK_BYTES", "IMGPROXY_FAIL_ON_DEPRECATION")
        + absent(
            "IMGPROXY_BEST_FORMAT_*", off: PeerValue.no,
            advice:
                "the best format is not searched for: formats are negotiated with clients, see "
                + "--gateway-offer")
        + absent(
            "IMGPROXY_OBJECT_DETECTION_*", "IMGPROXY_CLASSIFICATION_*", "IMGPROXY_ML_*",
            "IMGPROXY_SMART_CROP_*", off: PeerValue.no,
            advice: "objects are not detected: g:sm keeps the most salient area")
        + absent(
            "IMGPROXY_ENABLE_VIDEO_THUMBNAILS", "IMGPROXY_VIDEO_THUMBNAIL_*",
            "IMGPROXY_ENABLE_RAW_FORMATS", off: PeerValue.no,
            advice: "videos and raw images are not decoded: use a decoder of your own, see "
                + "Examples/ForeignWorkers.md")
        + absent(
            "IMGPROXY_UNSHARP_MASKING_*", off: ["none"],
            advice: "unsharp masking is not supported: use sh:0.5 in a preset named default")
        + absent(
            "IMGPROXY_PDF_NO_BACKGROUND", "IMGPROXY_SVG_FIX_UNSUPPORTED", off: PeerValue.no,
            advice: "this setting has no equivalent")
        + absent(
            "IMGPROXY_STRIP_METADATA_DPI", "IMGPROXY_COLOR_PROFILES_DIR",
            advice:
                "resolution and color profiles cannot be set: keep those of the source with sm:0 "
                + "and scp:0 in a preset named default")
        + absent(
            "IMGPROXY_INFO_PRESETS", "IMGPROXY_INFO_PRESETS_PATH", "IMGPROXY_INFO_ONLY_PRESETS",
            off: PeerValue.no, advice: "paths of info have no options and need no presets")
        + absent(
            "IMGPROXY_ENV_*",
            advice:
                "variables are only read from the environment: set them there, such as with "
                + "env_file in a compose file")

    private static let imgproxyAbsent: [PeerSetting] =
        absent(
            "IMGPROXY_WRITE_RESPONSE_TIMEOUT", "IMGPROXY_CLIENT_KEEP_ALIVE_TIMEOUT",
            "IMGPROXY_GRACEFUL_STOP_TIMEOUT",
            advice:
                "this setting has no equivalent: use --gateway-idle-timeout and --gateway-timeout"
        )
        + absent(
            "IMGPROXY_SO_REUSEPORT", "IMGPROXY_SET_CANONICAL_HEADER",
            "IMGPROXY_ENABLE_DEBUG_HEADERS", off: PeerValue.no,
            advice: "this setting has no equivalent")
        + absent(
            "IMGPROXY_ETAG_BUSTER", "IMGPROXY_LAST_MODIFIED_BUSTER",
            advice: "ETags are derived from the response bytes and need no buster")
        + absent(
            "IMGPROXY_CUSTOM_REQUEST_HEADERS", "IMGPROXY_RESPONSE_HEADERS_PASSTHROUGH",
            "IMGPROXY_SERVER_NAME",
            advice: "use `headers` of a rule in the --config file for origins, and "
                + "--gateway-response-headers for responses")
        + absent(
            "IMGPROXY_HEALTH_CHECK_*",
            advice: "the health check paths are /health, /live and /ready")
        + absent(
            "IMGPROXY_CACHE_*",
            advice: "results are cached: use --cache-dir, --disk-limit and --max-age")
        + absent(
            "IMGPROXY_AUTOQUALITY_*", off: ["none"],
            advice: "automatic quality is not supported: use --gateway-quality, or mb: in URLs")
        + absent(
            "IMGPROXY_NEW_RELIC_*", "IMGPROXY_DATADOG_*", "IMGPROXY_OPEN_TELEMETRY_*",
            "IMGPROXY_CLOUD_WATCH_*", "IMGPROXY_PROMETHEUS_NAMESPACE", off: PeerValue.no,
            advice:
                "metrics are pulled: point Prometheus or an agent to --gateway-metrics-listen")
        + absent(
            "IMGPROXY_SENTRY_*", "IMGPROXY_BUGSNAG_*", "IMGPROXY_HONEYBADGER_*",
            "IMGPROXY_AIRBRAKE_*", "IMGPROXY_REPORT_DOWNLOADING_ERRORS",
            "IMGPROXY_DEVELOPMENT_ERRORS_MODE", "IMGPROXY_SYSLOG_*", off: PeerValue.no,
            advice: "errors are logged to standard error: forward them with a log collector")
        + absent(
            "IMGPROXY_FREE_MEMORY_INTERVAL", "IMGPROXY_MALLOC", "IMGPROXY_DOWNLOAD_BUFFER_SIZE",
            "IMGPROXY_BUFFER_POOL_CALIBRATION_THRESHOLD",
            advice: "workers release memory automatically, within their cgroup")
}

extension [Character] {
    fileprivate var text: String { String(self) }
}
