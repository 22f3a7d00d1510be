// The variables of imgproxy 4, according to its documentation ("Configuration options").
extension PeerSetting {
    static let imgproxy: [PeerSetting] =
        imgproxyServer + imgproxySecurity + imgproxyOutput + imgproxySources + imgproxyAbsent

    private static let imgproxyServer: [PeerSetting] =
        [
            text("IMGPROXY_BIND", "gateway"),
            always(
                "IMGPROXY_NETWORK", ["tcp"],
                "IMGPROXY_BIND is an address and a port: for a Unix socket use --gateway unix:/PATH"
            ),
            seconds("IMGPROXY_TIMEOUT", .timeout),
            seconds("IMGPROXY_READ_REQUEST_TIMEOUT", .headTime),
            seconds("IMGPROXY_KEEP_ALIVE_TIMEOUT", .idleTime),
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
                    + "ignore-cache-control in --config"),
            always("IMGPROXY_USE_ETAG", PeerValue.yes, "entity tags are always sent"),
            always(
                "IMGPROXY_USE_LAST_MODIFIED", PeerValue.yes,
                "Last-Modified of origins is always passed on"),
            text("IMGPROXY_PROMETHEUS_BIND", .metricsListen),
            PeerSetting(
                "IMGPROXY_LOG_LEVEL",
                .options(expected: "error, warn, info or debug") { text in
                    ["", "error", "warn", "info", "debug"].contains(text)
                        ? text.isEmpty
                            ? [] : [PeerOption("log-level", text == "warn" ? "warning" : text)]
                        : nil
                }),
            PeerSetting(
                "IMGPROXY_LOG_FORMAT",
                .options(expected: "pretty, structured, json or gcp") { text in
                    switch text {
                    case "": []
                    case "pretty", "structured": [PeerOption("log-format", "text")]
                    case "json", "gcp": [PeerOption("log-format", "json")]
                    default: nil
                    }
                }),
        ]

    private static let imgproxySecurity: [PeerSetting] =
        [
            PeerSetting("IMGPROXY_KEY", .keys), PeerSetting("IMGPROXY_SALT", .keys),
            count("IMGPROXY_SIGNATURE_SIZE", .signatureSize),
            PeerSetting(
                "IMGPROXY_MAX_SRC_RESOLUTION",
                .options(expected: "a number of megapixels") { text in
                    if text.isEmpty { return [] }
                    guard let number = Double(text), (0.001...1_000_000).contains(number) else {
                        return nil
                    }
                    return [PeerOption("pixel-limit", "\(Int((number * 1_000_000).rounded()))")]
                }),
            count("IMGPROXY_MAX_SRC_FILE_SIZE", ["body-limit"], none: 0),
            count("IMGPROXY_MAX_ANIMATION_FRAMES", .maxAnimationFrames),
            count("IMGPROXY_MAX_REDIRECTS", ["redirect-limit"]),
            text("IMGPROXY_ALLOW_ORIGIN", .allowOrigin),
            flag(
                "IMGPROXY_COOKIE_PASSTHROUGH", [PeerOption(.passHeaders, "cookie", isPart: true)]),
            text("IMGPROXY_COOKIE_BASE_URL", .passHeadersTo),
            PeerSetting(
                "IMGPROXY_REQUEST_HEADERS_PASSTHROUGH",
                .options(expected: "names of headers with commas between") { text in
                    text.isEmpty ? [] : [PeerOption(.passHeaders, text, isPart: true)]
                }),
            text("IMGPROXY_CUSTOM_RESPONSE_HEADERS", .responseHeaders),
            always(
                "IMGPROXY_CUSTOM_HEADERS_SEPARATOR", ["\\;"],
                "headers have \\; between them"),
            text("IMGPROXY_ALLOWED_SOURCES", .allowedSources),
            always(
                "IMGPROXY_SANITIZE_SVG", PeerValue.yes,
                "SVG is only answered so that no script in it runs"),
        ]
        + absent(
            "IMGPROXY_ALLOW_LOOPBACK_SOURCE_ADDRESSES",
            "IMGPROXY_ALLOW_LINK_LOCAL_SOURCE_ADDRESSES",
            "IMGPROXY_ALLOW_PRIVATE_SOURCE_ADDRESSES", off: PeerValue.no,
            advice:
                "private addresses are blocked: permit some with --allow-address IP:PORT, or all "
                + "with --allow-private-networks")
        + absent(
            "IMGPROXY_TRUSTED_SIGNATURES", "IMGPROXY_SECRET",
            advice: "only signatures say who may ask: sign URLs with a key of their own, a line of "
                + "--gateway-keys")
        + absent(
            "IMGPROXY_SOURCE_URL_ENCRYPTION_KEY",
            advice: "encrypted source URLs are not read: use plain or Base64 URLs")
        + absent(
            "IMGPROXY_ALLOWED_PROCESSING_OPTIONS", "IMGPROXY_ALLOWED_INFO_OPTIONS",
            advice: "options cannot be narrowed one by one: use --gateway-presets and "
                + "--gateway-only-presets")
        + absent(
            "IMGPROXY_MAX_ANIMATION_FRAME_RESOLUTION", "IMGPROXY_MAX_RESULT_DIMENSION",
            "IMGPROXY_MAX_CHAINED_PIPELINES", off: ["0"],
            advice: "limits are --pixel-limit, --side-limit and --page-limit")
        + absent(
            "IMGPROXY_IGNORE_SSL_VERIFICATION", off: PeerValue.no,
            advice:
                "certificates are verified: name your authority with --ca-file, or one host in a "
                + "rule with tls-verify: no")
        + absent(
            "IMGPROXY_PNG_UNLIMITED", "IMGPROXY_SVG_UNLIMITED", "IMGPROXY_ALLOW_SECURITY_OPTIONS",
            "IMGPROXY_ALLOW_BYPASS_CACHE", off: PeerValue.no,
            advice: "URLs cannot exceed the limits of the operator (--pixel-limit, --body-limit)")
        + absent(
            "IMGPROXY_COOKIE_PASSTHROUGH_ALL", off: PeerValue.no,
            advice: "cookies go to the sources that --gateway-pass-headers-to names")

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
            PeerSetting(
                "IMGPROXY_WATERMARK_DATA",
                .options(expected: "Base64") { text in
                    text.isEmpty ? [] : [PeerOption(.watermark, "data:;base64,\(text)")]
                }),
            text("IMGPROXY_WATERMARK_OPACITY", .watermarkOpacity),
            text("IMGPROXY_FALLBACK_IMAGE_URL", .fallback),
            text("IMGPROXY_FALLBACK_IMAGE_PATH", .fallback),
            PeerSetting(
                "IMGPROXY_FALLBACK_IMAGE_HTTP_CODE",
                .options(expected: "a status") { text in
                    text.isEmpty
                        ? [] : [PeerOption(.fallbackStatus, text == "0" ? "error" : text)]
                }),
            seconds("IMGPROXY_FALLBACK_IMAGE_TTL", .fallbackMaxAge, none: 0),
            flag("IMGPROXY_KEEP_COPYRIGHT", [], else: [PeerOption(.metadata, "none")]),
            flag("IMGPROXY_STRIP_METADATA", [], else: [PeerOption(.metadata, "all")]),
            text("IMGPROXY_SKIP_PROCESSING_FORMATS", .skipProcessingFormats),
            always(
                "IMGPROXY_STRIP_COLOR_PROFILE", PeerValue.yes,
                "colors are converted to sRGB: keep profiles with scp:0 in a preset named default"),
            always(
                "IMGPROXY_AUTO_ROTATE", PeerValue.yes, "images are always turned upright"),
            always(
                "IMGPROXY_PREFERRED_FORMATS", ["jpeg,png,gif"],
                "without a format in the URL the source's is kept, or one of --gateway-offer"),
        ]
        + absent(
            "IMGPROXY_ENFORCE_WEBP", "IMGPROXY_ENFORCE_AVIF", "IMGPROXY_ENFORCE_JXL",
            off: PeerValue.no,
            advice: "a format in the URL is kept: leave it out of URLs, and use --gateway-offer")
        + absent(
            "IMGPROXY_PRESERVE_HDR", "IMGPROXY_ENFORCE_THUMBNAIL",
            "IMGPROXY_USE_LINEAR_COLORSPACE", "IMGPROXY_DISABLE_SHRINK_ON_LOAD",
            "IMGPROXY_RETURN_ATTACHMENT", "IMGPROXY_ALWAYS_RASTERIZE_SVG",
            "IMGPROXY_WATERMARK_PREPROCESS_URL", off: PeerValue.no,
            advice: "it is not offered as a setting: say ph:1 or att:1 in a preset named default")
        + absent(
            "IMGPROXY_FALLBACK_IMAGE_DATA",
            advice: "write the image into a file, and name it with --gateway-fallback")
        + absent(
            "IMGPROXY_JPEG_*", "IMGPROXY_PNG_*", "IMGPROXY_WEBP_*", "IMGPROXY_AVIF_*",
            off: PeerValue.no,
            advice:
                "of encoders only quality, progressive and effort are settings: use "
                + "--gateway-quality, --gateway-progressive and --gateway-effort")

    private static let imgproxySources: [PeerSetting] =
        [
            presets,
            always("IMGPROXY_PRESETS_SEPARATOR", [","], "write presets into a file, a line each"),
            text("IMGPROXY_PRESETS_PATH", .presets),
            flag("IMGPROXY_ONLY_PRESETS", [PeerOption(.onlyPresets)]),
            text("IMGPROXY_ARGUMENTS_SEPARATOR", .argumentsSeparator),
            text("IMGPROXY_BASE_URL", .baseURL),
            text("IMGPROXY_URL_REPLACEMENTS", .urlReplacements),
            text("IMGPROXY_LOCAL_FILESYSTEM_ROOT", "local-root"),
            always(
                "IMGPROXY_SOURCE_URL_QUERY_SEPARATOR", ["?"], "queries begin with ?"),
        ]
        + absent(
            "IMGPROXY_USE_S3", "IMGPROXY_S3_*", off: PeerValue.no,
            advice: "add a loader of kind s3 to `loaders` in the file of --config")
        + absent(
            "IMGPROXY_USE_GCS", "IMGPROXY_GCS_*", off: PeerValue.no,
            advice:
                "add a loader of kind s3 with the endpoint https://storage.googleapis.com and the "
                + "pattern gs://* to `loaders` in the file of --config, with HMAC keys of Google's")
        + absent(
            "IMGPROXY_USE_ABS", "IMGPROXY_ABS_*", "IMGPROXY_USE_SWIFT", "IMGPROXY_SWIFT_*",
            off: PeerValue.no,
            advice: "name these sources by https URLs, or by a proxy that speaks S3")
        + absent(
            "IMGPROXY_BASE64_URL_INCLUDES_FILENAME", off: PeerValue.no,
            advice: "leave the file name out of URLs, and say it with fn:")

    /// Presets separated by commas; a preset that contains commas needs a line of its own in a
    /// file.
    private static let presets = PeerSetting(
        "IMGPROXY_PRESETS",
        .options(expected: "NAME=OPTIONS with commas between") { text in
            text.isEmpty
                ? [] : [PeerOption(.presetLines, text.map { $0 == "," ? "\n" : $0 }.text)]
        })

    private static func userAgent(_ name: String) -> PeerSetting {
        PeerSetting(
            name,
            .options(expected: "a text without %current_version") { text in
                text.isEmpty ? [] : text.contains("%") ? nil : [PeerOption("user-agent", text)]
            })
    }

    private static let imgproxyAbsent: [PeerSetting] =
        absent(
            "IMGPROXY_WRITE_RESPONSE_TIMEOUT", "IMGPROXY_CLIENT_KEEP_ALIVE_TIMEOUT",
            "IMGPROXY_GRACEFUL_STOP_TIMEOUT",
            advice:
                "it has no counterpart: use --gateway-idle-time and --gateway-timeout"
        )
        + absent(
            "IMGPROXY_SO_REUSEPORT", "IMGPROXY_SET_CANONICAL_HEADER",
            "IMGPROXY_ENABLE_DEBUG_HEADERS", off: PeerValue.no, advice: "it has no counterpart")
        + absent(
            "IMGPROXY_ETAG_BUSTER", "IMGPROXY_LAST_MODIFIED_BUSTER",
            advice: "entity tags follow from the bytes of answers, and need no buster")
        + absent(
            "IMGPROXY_CUSTOM_REQUEST_HEADERS", "IMGPROXY_RESPONSE_HEADERS_PASSTHROUGH",
            "IMGPROXY_SERVER_NAME",
            advice: "use `headers` of a rule in --config for origins, and "
                + "--gateway-response-headers for answers")
        + absent(
            "IMGPROXY_HEALTH_CHECK_*", advice: "the paths are /health, /live and /ready")
        + absent(
            "IMGPROXY_CACHE_*",
            advice: "results are cached: use --cache-dir, --disk-limit and --max-age")
        + absent(
            "IMGPROXY_AUTOQUALITY_*", off: ["none"],
            advice: "quality is a number: use --gateway-quality, or mb: in URLs")
        + absent(
            "IMGPROXY_NEW_RELIC_*", "IMGPROXY_DATADOG_*", "IMGPROXY_OPEN_TELEMETRY_*",
            "IMGPROXY_CLOUD_WATCH_*", "IMGPROXY_PROMETHEUS_NAMESPACE", off: PeerValue.no,
            advice:
                "metrics are read from --gateway-metrics-listen by Prometheus or an agent of yours")
        + absent(
            "IMGPROXY_SENTRY_*", "IMGPROXY_BUGSNAG_*", "IMGPROXY_HONEYBADGER_*",
            "IMGPROXY_AIRBRAKE_*", "IMGPROXY_REPORT_DOWNLOADING_ERRORS",
            "IMGPROXY_DEVELOPMENT_ERRORS_MODE", "IMGPROXY_SYSLOG_*", off: PeerValue.no,
            advice: "errors are log lines on standard error: send them on with a collector")
        + absent(
            "IMGPROXY_FREE_MEMORY_INTERVAL", "IMGPROXY_MALLOC", "IMGPROXY_DOWNLOAD_BUFFER_SIZE",
            "IMGPROXY_BUFFER_POOL_CALIBRATION_THRESHOLD",
            advice: "workers give memory back by themselves, within their cgroup")

    /// The variables in a table of the migration page, for its test.
    package static var imgproxyNames: [String] { imgproxy.map(\.name) }
}

extension [Character] {
    fileprivate var text: String { String(self) }
}
