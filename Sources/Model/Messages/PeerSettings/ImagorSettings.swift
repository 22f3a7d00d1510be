// The variables of imagor 1.9, according to its documentation ("Configuration"). PORT, BIND, DEBUG
// and AWS_… are ignored because other programs use them, too.
extension PeerSetting {
    static let imagor: [PeerSetting] = imagorCore + imagorLoader + imagorAbsent

    private static let imagorCore: [PeerSetting] =
        [
            PeerSetting("IMAGOR_SECRET", .keys),
            flag("IMAGOR_UNSAFE", [PeerOption(.unsigned)]),
            offer("IMAGOR_AUTO_AVIF", "avif"), offer("IMAGOR_AUTO_WEBP", "webp"),
            PeerSetting("IMAGOR_SIGNER_TYPE", expected: "sha1, sha256 or sha512") { text in
                GatewaySetting.signatureAlgorithm.accepts(text)
                    ? [PeerOption(.signatureAlgorithm, text)] : nil
            },
            // Digits of Base64, of which four are three bytes.
            PeerSetting(
                "IMAGOR_SIGNER_TRUNCATE", expected: "0, or a multiple of 4 between 12 and 40"
            ) { text in
                guard let digits = Int(text), digits % 4 == 0, (0...40).contains(digits) else {
                    return nil
                }
                let bytes = "\(digits / 4 * 3)"
                if digits == 0 { return [] }
                return GatewaySetting.signatureSize.accepts(bytes)
                    ? [PeerOption(.signatureSize, bytes)] : nil
            },
            seconds("IMAGOR_CACHE_HEADER_TTL", .assumeFresh),
            seconds("IMAGOR_CACHE_HEADER_SWR", .assumeStaleWhileRevalidate),
            seconds("IMAGOR_REQUEST_TIMEOUT", .timeout),
            seconds("IMAGOR_LOAD_TIMEOUT", "transfer-timeout"),
            count("IMAGOR_PROCESS_CONCURRENCY", ["decode", "transform"], none: -1),
            count("IMAGOR_PROCESS_QUEUE_SIZE", ["queue-limit"], none: 0),
            count("VIPS_MAX_RESOLUTION", ["pixel-limit"], none: 0),
            PeerSetting("VIPS_MAX_ANIMATION_FRAMES", expected: "an integer") { text in
                guard let number = Int(text) else { return nil }
                return number < 1 ? [] : [PeerOption(.maxAnimationFrames, "\(number)")]
            },
            avifSpeed("VIPS_AVIF_SPEED"),
            text("PROMETHEUS_BIND", .metricsListen),
            text("SERVER_PATH_PREFIX", .pathPrefix),
        ]

    private static let imagorLoader: [PeerSetting] =
        [
            hosts("HTTP_LOADER_ALLOWED_SOURCES"),
            PeerSetting("HTTP_LOADER_DEFAULT_SCHEME", expected: "a scheme, or nil") { text in
                [PeerOption(.defaultScheme, text == "nil" ? "none" : text)]
            },
            text("HTTP_LOADER_BASE_URL", .baseURL),
            text("HTTP_LOADER_FORWARD_HEADERS", .passHeaders),
            count("HTTP_LOADER_MAX_ALLOWED_SIZE", ["body-limit"], none: 0),
            always("HTTP_LOADER_ACCEPT", ["*/*"], "use --accept-type"),
        ]
        + ["LOOPBACK", "LINK_LOCAL", "PRIVATE"].map { network in
            always(
                "HTTP_LOADER_BLOCK_\(network)_NETWORKS", PeerValue.yes,
                "private addresses are blocked: allow some with --allow-address IP:PORT, or all "
                    + "with --allow-private-networks")
        }
        + absent("HTTP_LOADER_BLOCK_NETWORKS", advice: "use --deny-address")
        + absent(
            "HTTP_LOADER_ALLOWED_SOURCE_REGEXP",
            advice: "regular expressions are not supported: use --gateway-allowed-sources with *")
        + absent(
            "HTTP_LOADER_FORWARD_CLIENT_HEADERS", off: PeerValue.no,
            advice: "list the headers in --gateway-pass-headers")
        + absent(
            "HTTP_LOADER_OVERRIDE_RESPONSE_HEADERS", "HTTP_LOADER_DISABLE", off: PeerValue.no,
            advice: "use `sources` and `rules` in the --config file")
        + absent(
            "HTTP_LOADER_INSECURE_SKIP_VERIFY_TRANSPORT", off: PeerValue.no,
            advice:
                "certificates are always verified: pass your CA with --ca-file, or exempt one host "
                + "with tls-verify: no in a rule")
        + absent(
            "HTTP_LOADER_PROXY_URLS", "HTTP_LOADER_PROXY_ALLOWED_SOURCES", advice: "use --proxy")

    private static let imagorAbsent: [PeerSetting] =
        [flag("VIPS_STRIP_METADATA", [PeerOption(.metadata, "none")])]
        + absent("IMAGOR_BASE_PARAMS", advice: "use `presets` and a rule in the --config file")
        + absent(
            "IMAGOR_AUTO_JPEG", "IMAGOR_CACHE_HEADER_NO_CACHE", "IMAGOR_MODIFIED_TIME_CHECK",
            "IMAGOR_DISABLE_ERROR_BODY", "IMAGOR_DISABLE_PARAMS_ENDPOINT",
            "IMAGOR_RESPONSE_RAW_ON_ERROR", "VIPS_MOZJPEG", "VIPS_UNLIMITED", "VIPS_DISABLE_BLUR",
            "VIPS_STRIP_COLOR_PROFILE", off: PeerValue.no,
            advice: "this setting has no equivalent")
        + absent(
            "VIPS_MAX_WIDTH", "VIPS_MAX_HEIGHT", off: ["0"],
            advice: "use --side-limit and --pixel-limit")
        + absent(
            "VIPS_MAX_FILTER_OPS", "VIPS_DISABLE_FILTERS", "VIPS_CACHE_*", "VIPS_MAX_CACHE_*",
            "VIPS_DETECTOR_PROBE_SIZE", off: ["-1", "0"],
            advice: "URLs accept at most 64 filters; results are cached in --cache-dir")
        + absent(
            "FILE_LOADER_BASE_DIR", "FILE_LOADER_PATH_PREFIX",
            advice: "use --local-root with local:/// in URLs or in --gateway-base-url")
        + absent(
            "S3_LOADER_*", "GCLOUD_LOADER_*",
            advice: "add a loader of kind s3 to `loaders` in the --config file")
        + absent(
            "FILE_RESULT_STORAGE_*", "S3_STORAGE_*", "S3_RESULT_STORAGE_*", "GCLOUD_STORAGE_*",
            "GCLOUD_RESULT_STORAGE_*", "FILE_STORAGE_*",
            advice: "originals and results are cached: use --cache-dir, --disk-limit and --max-age")
        + absent(
            "UPLOAD_LOADER_*", off: PeerValue.no,
            advice: "use --gateway-post-tokens, which responds to an uploaded image with the result"
        )
}
