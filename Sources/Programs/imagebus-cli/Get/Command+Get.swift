import CommandLineInterface
import ImageModel
import StackAccess

extension Command {
    static let get = Command(
        name: "get",
        summary: "load one image",
        usage: "URL|- [-o FILE] [options]",
        options: [
            ("result", resultOptions + outputOptions), ("how it is encoded", settingOptions),
            ("steps, in the order given", stepOptions),
            ("how it is loaded", loadOptions + [fallback] + nameOptions + [traceparent]),
            ("which stack", stackOptions),
            ("", laterOptions),
        ],
        notes: """
            Without -o nothing is written but one line about the image. Without steps, --format and
            --quality the image comes as its source has it, unless the name of -o asks for another
            format; with --original it is the source's bytes whatever the name says. --mode belongs
            to the --resize before it, or to the next one where none before it is without a mode;
            the default is fit.

            get uses the stack that runs in the runtime directory, which has to be this user's or
            root's where nothing names it. Where none runs, and neither an endpoint nor a runtime
            directory is named, it starts a private one and ends it again; --allow-private-networks,
            --allow-address, --ca-file and --config are for that one. Ctrl-C cancels.

            Formats that are read: \(decodableNames);
            pdf and svg where the stack has 'serve --vector N', a private one by IMAGEBUS_VECTOR=1.
            The bytes tell the format, not a name or a server; of an animation the first frame is
            read, unless --frame names another one, --frames or --animated asks for all, or
            --thumbnail alone scales it. A still image has one frame. With --json, --frames says
            count, durations in microseconds, loops (0: without end) and files. Where it fails, the
            files that were written stay.

            --partials shows a JPEG by its scans or rows, PNG and WebP by their rows, an animation
            by its first frame, after the same steps as the image itself; nothing where a cache has
            the image. With --json, partials says files, bytes that had arrived, and milliseconds.

            --show draws with the graphics of kitty where TERM or KITTY_WINDOW_ID names it, else
            with sixels of 256 colours where the terminal answers that it has them, else with half
            blocks in true colour. An animation plays until its loops end, Ctrl-C (130) or a key.

            What cannot be written is said before the load where it can be. With --json, error.name
            is outputFailed then, and its code that of the kernel.

            With - instead of a URL the image itself comes from standard input, at most 64 MiB,
            and everything else is as for a URL: the same image with the same steps comes from
            the cache.
            """,
        examples: [
            ("imagebus get https://example.com/photo.jpg -o photo.jpg", "the image as it is"),
            (
                "imagebus get https://example.com/a.jpg --resize 512x512 --format webp -o a.webp",
                "inside 512x512 pixels, as WebP"
            ),
            (
                "imagebus get URL --resize 200x200 --mode fill --rotate 90 --json -o thumb.png",
                "several steps, and the facts as JSON"
            ),
            ("imagebus get URL --option from-cache-only --json", "what the caches have"),
            ("imagebus get URL --frames frames --resize 200x200", "every frame of an animation"),
            ("imagebus get URL --show", "the image in the terminal"),
            ("imagebus get URL --partials so-far -o a.jpg", "what can be seen before all is there"),
            ("imagebus get URL --info", "format and size"),
            ("imagebus get URL --facts exif,colours,blurhash --json", "what else is known of it"),
            (
                "imagebus get URL --resize 64x64 --fallback '#FFCCCCCC' -o face.png",
                "a grey square where there is no image"
            ),
            (
                "imagebus get - --resize 200x200 -o thumb.jpg < photo.jpg",
                "an image without a URL"
            ),
        ])

    static let progress = OptionDefinition(
        "progress", value: "WHEN", of: .words(GetOptions.progressModes.map(\.name)),
        "auto, bar or none (auto: on a terminal)")

    private static let decodableNames =
        ImageFormat.decodable.map(\.name).joined(separator: ", ")

    private static let resultOptions = [
        OptionDefinition(
            "output", letter: "o", value: "FILE",
            "write the image there, at once and whole; its ending says the format\n"
                + "where --format does not; - is standard output"),
        OptionDefinition(
            "frames", value: "DIR",
            "write every frame of an animation there, as frame-0000.png and so on;\n"
                + "the directory is made; as PNG where --format says nothing else"),
        OptionDefinition(
            "partials", value: "DIR",
            "write images of what has arrived so far there while the rest comes, as\n"
                + "partial-0001.jpg and so on; the directory is made"),
        OptionDefinition(
            "show", "draw the image in this terminal, as large as it has room"),
        OptionDefinition(
            "graphics", value: "HOW", of: .words(TerminalGraphics.names.map(\.name)),
            "of --show: kitty, sixel, blocks, or auto: the best that the\nterminal has (auto)"),
        OptionDefinition("json", "one JSON object; with -o - it goes to stderr"),
        OptionDefinition(
            "explain", "how the image came about: what was decoded and how it was encoded"),
        OptionDefinition(
            "extended-data", "with --json: the bytes that were put beside the image"),
        progress,
        OptionDefinition(
            "delivery", value: "HOW", of: .words(GetOptions.deliveries.map(\.name)),
            "how the image comes from the stack: mapped, out of shared memory;\n"
                + "pieces, through the socket; auto: mapped where that can be read"),
    ]

    private static let fallback = OptionDefinition(
        "fallback", value: "URL|COLOUR",
        "what comes instead of an image that cannot be had, and is marked so:\n"
            + "another one, loaded without the --header, or a colour, #RRGGBB or\n"
            + "#AARRGGBB (the error)")

    private static let traceparent = OptionDefinition(
        "traceparent", value: "T",
        "W3C Trace Context, for the logs of all processes ($TRACEPARENT)")

    static let stackOptions: [OptionDefinition] = [
        .endpoint,
        OptionDefinition("private", "a stack of its own, although one may run"),
        .allowPrivateNetworks, .allowAddress, .denyAddress, .certificates, .config,
        .runtimeDirectory,
        .cacheDirectory, .logLevel, .logFormat,
    ]

    private static let nameOptions = [
        OptionDefinition(
            "group", value: "G", "32 hex digits, for imagebus cancel --group (none)"),
        OptionDefinition(
            "slot", value: "NAME", "what it is for, in this session; not for - (none)"),
    ]
}
