// The settings of thumbor 7 (`thumbor/config.py`), which its containers read from the environment.
extension PeerSetting {
    static let thumbor: [PeerSetting] = thumborOutput + thumborLoader + thumborAbsent

    private static let thumborOutput: [PeerSetting] =
        [
            PeerSetting("PORT", expected: "a port") { text in
                UInt16(text).map { [PeerOption("gateway", ":\($0)")] }
            },
            PeerSetting("SECURITY_KEY", .keys),
            flag("ALLOW_UNSAFE_URL", [PeerOption(.unsigned)]),
            count("QUALITY", .quality),
            quality("WEBP_QUALITY", of: "webp"), quality("AVIF_QUALITY", of: "avif"),
            avifSpeed("AVIF_SPEED"),
            progressive("PROGRESSIVE_JPEG", "jpeg"),
            offer("AUTO_AVIF", "avif"), offer("AUTO_WEBP", "webp"),
            PeerSetting("AUTO_IMAGE_FORMAT_PREFERENCE", expected: "a list of webp and avif") {
                text in
                let names = PeerList.names(text)
                guard names.allSatisfy({ ["webp", "avif"].contains($0) }) else { return nil }
                return names.map { PeerOption(.offer, $0, isPart: true) }
            },
            seconds("MAX_AGE", .assumeFresh),
            count("MAX_PIXELS", ["pixel-limit"]),
            flag("ALLOW_ANIMATED_GIFS", [], else: [PeerOption(.maxAnimationFrames, "1")]),
            PeerSetting("ACCESS_CONTROL_ALLOW_ORIGIN_HEADER", expected: "False, * or an origin") {
                text in
                PeerValue.no.contains(text) ? [] : [PeerOption(.allowOrigin, text)]
            },
            always("RESPECT_ORIENTATION", PeerValue.yes, "images are always rotated upright"),
            always("ENABLE_ETAGS", PeerValue.yes, "ETags are always sent"),
            always(
                "SEND_IF_MODIFIED_LAST_MODIFIED_HEADERS", PeerValue.yes,
                "Last-Modified of origins is always forwarded"),
            flag("PRESERVE_EXIF_INFO", [PeerOption(.metadata, "all")]),
            always(
                "HEALTHCHECK_ROUTE", ["/healthcheck", "/healthcheck/?"],
                "the health check paths are /healthcheck, /health, /live and /ready"),
        ]
        + absent(
            "PRESERVE_EXIF_COPYRIGHT_INFO", off: PeerValue.yes.union(PeerValue.no),
            advice: "the copyright is kept by default: --gateway-metadata none removes it")
        + absent(
            "PRESERVE_IPTC_INFO",
            "AUTO_PNG_TO_JPG", "AUTO_JPG", "AUTO_PNG", "AUTO_HEIF", "USE_GIFSICLE_ENGINE",
            "USE_BLACKLIST", "IGNORE_SMART_ERRORS", off: PeerValue.no,
            advice:
                "this setting has no equivalent: set formats with filters:format(), or offer some "
                + "with --gateway-offer")
        + absent(
            "HEIF_QUALITY", "AVIF_CODEC*", "PILLOW_*", "PNG_COMPRESSION_LEVEL", "SRGB_PROFILE",
            "SVG_DPI", off: ["None", "auto", "LANCZOS", "True", "6", "150"],
            advice:
                "the only encoder settings are quality, progressive and effort: use "
                + "--gateway-quality, --gateway-progressive and --gateway-effort")
        + absent(
            "MAX_WIDTH", "MAX_HEIGHT", "MAX_AGE_TEMP_IMAGE", off: ["0"],
            advice: "use --side-limit and --pixel-limit")
        + absent("MIN_WIDTH", "MIN_HEIGHT", off: ["1"], advice: "a minimum size is not supported")

    private static let thumborLoader: [PeerSetting] =
        [
            hosts("ALLOWED_SOURCES"),
            PeerSetting("LOADER", expected: "one of thumbor's http, https or file loaders") {
                text in
                switch text.split(separator: ".").last {
                case nil, "http_loader": []
                case "https_loader", "strict_https_loader":
                    [PeerOption(.defaultScheme, "https")]
                case "file_loader": [PeerOption(.baseURL, "local:///")]
                default: nil
                }
            },
            text("FILE_LOADER_ROOT_PATH", "local-root"),
            seconds("HTTP_LOADER_CONNECT_TIMEOUT", "connect-timeout"),
            seconds("HTTP_LOADER_REQUEST_TIMEOUT", "transfer-timeout"),
            flag("HTTP_LOADER_FOLLOW_REDIRECTS", [], else: [PeerOption("redirect-limit", "0")]),
            count("HTTP_LOADER_MAX_REDIRECTS", ["redirect-limit"]),
            text("HTTP_LOADER_DEFAULT_USER_AGENT", "user-agent"),
            text("HTTP_LOADER_CA_CERTS", "ca-file"),
            always(
                "HTTP_LOADER_VALIDATE_CERTS", PeerValue.yes.union(["None"]),
                "certificates are always verified: pass your CA with --ca-file, or exempt one host "
                    + "with tls-verify: no in a rule"),
        ]
        + absent(
            "HTTP_LOADER_FORWARD_USER_AGENT", "HTTP_LOADER_FORWARD_ALL_HEADERS",
            "HTTP_LOADER_FORWARD_HEADERS_WHITELIST", off: PeerValue.no.union(["[]"]),
            advice:
                "list the headers in --gateway-pass-headers, and the sources that receive them in "
                + "--gateway-pass-headers-to")
        + absent(
            "HTTP_LOADER_PROXY_HOST", "HTTP_LOADER_PROXY_PORT", "HTTP_LOADER_PROXY_USERNAME",
            "HTTP_LOADER_PROXY_PASSWORD", off: ["None"], advice: "use --proxy http://HOST:PORT")
        + absent(
            "HTTP_LOADER_CLIENT_KEY", "HTTP_LOADER_CLIENT_CERT", off: ["None"],
            advice: "use `client-certificate` of a rule in the --config file")
        + absent(
            "HTTP_LOADER_MAX_CLIENTS", "HTTP_LOADER_CURL_*", off: PeerValue.no,
            advice: "limit transfers with --fetches-per-host, --low-speed and --low-speed-time")

    private static let thumborAbsent: [PeerSetting] =
        absent(
            "STORAGE", "RESULT_STORAGE", "STORAGE_*", "RESULT_STORAGE_*", "FILE_STORAGE_ROOT_PATH",
            "MIXED_STORAGE_*", "STORES_CRYPTO_KEY_FOR_EACH_IMAGE", "MAX_ID_LENGTH", "GC_INTERVAL",
            off: [
                "None", "False", "thumbor.storages.file_storage", "thumbor.storages.no_storage",
                "thumbor.result_storages.file_storage",
            ],
            advice: "originals and results are cached: use --cache-dir, --disk-limit and --max-age")
        + absent(
            "DETECTORS", "FACE_DETECTOR_*", "GLASSES_DETECTOR_*", "PROFILE_DETECTOR_*",
            "REDIS_QUEUE_*", "SQS_QUEUE_*", off: ["[]"],
            advice: "detectors are not supported: smart selects the most salient area")
        + absent(
            "ENGINE", "GIF_ENGINE", "FILTERS", "OPTIMIZERS", "JPEGTRAN_*", "FFMPEG_PATH",
            "ENGINE_THREADPOOL_SIZE", "APP_CLASS", "HANDLER_LISTS", "META_CALLBACK_NAME",
            "COMPATIBILITY_*", "URL_SIGNER",
            off: [
                "None", "0", "[]", "thumbor.engines.pil", "thumbor.engines.gif",
                "libthumbor.url_signers.base64_hmac_sha1",
            ], advice: "thumbor plug-ins are not supported: see Examples/ForeignWorkers.md")
        + absent(
            "UPLOAD_*", off: PeerValue.no,
            advice:
                "uploads are not stored: --gateway-post-tokens responds to an image with the result"
        )
        + absent(
            "METRICS", "STATSD_*", "SENTRY_*", "ERROR_*", "USE_CUSTOM_ERROR_HANDLING", "LOG_*",
            off: PeerValue.no.union(["thumbor.metrics.logger_metrics"]),
            advice: "use --gateway-metrics-listen for metrics and the log for errors")
        + absent(
            "MAX_WAIT_SECONDS_*", "NON_BLOCKING_SOCKETS", off: PeerValue.no,
            advice: "SIGTERM always completes pending requests")

    /// Hosts separated by commas or as a Python list; no regular expressions.
    static func hosts(_ name: String) -> PeerSetting {
        PeerSetting(name, expected: "a list of host names, in which * matches any text") { text in
            let names = PeerList.names(text)
            let areHosts = names.allSatisfy { name in
                name.utf8.allSatisfy { $0.isLetterOrDigit || "-.*:_".utf8.contains($0) }
            }
            guard areHosts, !text.contains("re.compile") else { return nil }
            let patterns = names.flatMap { ["http://\($0)/", "https://\($0)/"] }
            return patterns.isEmpty
                ? [] : [PeerOption(.allowedSources, patterns.joined(separator: ","))]
        }
    }
}

/// Parses lists in Python syntax or separated by commas.
enum PeerList {
    static func names(_ text: String) -> [String] {
        text.split { "[](), ".contains($0) }
            .map { String($0.filter { $0 != "'" && $0 != "\"" }) }
            .filter { !$0.isEmpty }
    }
}
