import CommandLineInterface
import Messages
import Observability
import StackAccess

extension Command {
    static let serve = Command(
        name: "serve",
        summary: "run coordinator and workers, supervised, in the foreground",
        usage: "[options]",
        options: [
            (
                "processes",
                [
                    OptionDefinition(
                        "only", value: "KIND", of: .words(ProcessKind.all.map(\.name)),
                        "only these: coordinator, download, cache, decode, transform or\n"
                            + "gateway"),
                    OptionDefinition(
                        "pool", value: "NAME",
                        "with --only: processes of that pool of the configuration, in place\n"
                            + "of the one that every stack has of the kind"),
                    OptionDefinition(
                        "input-pools", value: "NAMES",
                        "with --only: further pools whose segments they read, with commas"),
                    OptionDefinition("download", value: "N", "download processes (1)"),
                    OptionDefinition("decode", value: "N", "decode processes (one a core)"),
                    OptionDefinition("transform", value: "N", "transform processes (one a core)"),
                    OptionDefinition(
                        "vector", value: "N",
                        "decode processes of the pool 'vector', which draw SVG and PDF\n"
                            + "(0: both are refused)"),
                ]
            ),
            ("images over HTTP", ServedGateway.definitions),
            (
                "network",
                [.allowPrivateNetworks, .allowAddress, .denyAddress, .certificates]
                    + DownloadSettings.definitions
            ),
            (
                "places",
                [
                    .config, .runtimeDirectory, .cacheDirectory,
                    OptionDefinition(
                        "local-root", value: "DIRECTORY",
                        "answer local:///PATH with the files of this directory, which the\n"
                            + "download process has to be able to read; no link leads out of it"),
                    OptionDefinition(
                        "secret-file", value: "FILE",
                        "the key that keeps what is cached for different users apart;\n"
                            + "made where it is missing (identity.key in the cache\n"
                            + "directory; with --only coordinator none that lasts)"),
                ]
            ),
            ("caches", CacheSettings.definitions),
            ("limits of images", CoordinatorSettings.limits),
            ("downloads and queues", CoordinatorSettings.definitions),
            (
                "log and figures",
                [
                    .logLevel, .logFormat,
                    OptionDefinition(
                        "log-requests", value: "WHICH",
                        of: .words(RequestLogging.allCases.map(\.rawValue)),
                        "a line for each request: all, misses (not those that memory\n"
                            + "answered), slow (a second, or failed) or none (misses); at\n"
                            + "most 100 lines a second"),
                    OptionDefinition(
                        "metrics-file", value: "FILE",
                        "keep the figures there in the text format of Prometheus, for a\n"
                            + "collector that reads files; removed at the end"),
                    OptionDefinition(
                        "metrics-seconds", value: "N", "write them so often (15)"),
                ]
            ),
            (
                "",
                [
                    // A private stack ends with the `get` that started it, and leaves nothing.
                    OptionDefinition("parent-pid", value: "PID", visibility: .hidden),
                    OptionDefinition("remove-runtime-dir", visibility: .hidden),
                    OptionDefinition("memory-only", visibility: .hidden),
                    OptionDefinition("yield-cache", visibility: .hidden),
                    OptionDefinition("memory-files", value: "DIRECTORY", visibility: .hidden),
                ]
            ),
        ],
        notes: """
            Prints one line `ready ENDPOINT` once every process is part of the stack, and behind it
            `gateway URL` where there is one. A process that dies comes back at once; who connects
            to the gateway meanwhile waits. SIGTERM or Ctrl-C drains: nothing new is admitted, what
            was admitted is finished, within 8 s; a second one ends all now. SIGHUP reloads the
            file of --config, and keys, presets and tokens of the gateway, each whole or not at
            all; other pools need a restart.

            exit status: 0 drained, 124 the drain took too long, 130 a second signal, 75 another
            serve holds the runtime directory, 64 or 78 a process cannot run with these settings
            """,
        examples: [
            ("imagebus serve", "one stack for this user"),
            (
                "imagebus serve --decode 8 --memory-limit 512M --disk-limit 20G",
                "more decoders, and limits for both tiers"
            ),
            (
                "imagebus serve --gateway 127.0.0.1:8080 --gateway-unsigned",
                "images over HTTP, for whoever reaches this machine's loopback"
            ),
            (
                "imagebus serve --allow-address 127.0.0.1:8000",
                "one local origin, and no other private address"
            ),
            (
                "imagebus serve --only decode --decode 2 --runtime-dir /run/imagebus",
                "two decoders for a coordinator that runs elsewhere"
            ),
        ])
}
