import CommandLineInterface
import ImageModel
import Imagebus

extension Command {
    static let animate = Command(
        name: "animate",
        summary: "make an animation of images",
        usage: "URL|FILE… -o FILE [options]",
        furtherOperands: .file,
        options: [
            ("frames", frameOptions), ("result", animationOutput),
            ("how it is encoded", settingOptions),
            ("steps of every frame, in the order given", stepOptions),
            ("how each is loaded", loadOptions), ("which stack", stackOptions), ("", laterOptions),
        ],
        notes: """
            Each operand is a frame, in this order: a URL, or the name of a file of at most 64 MiB.
            Of an animation it is the first frame. All have to be of one size after the steps; a
            --resize with --mode fill, stretch or letterbox makes them so. At most
            \(AnimationFacts.framesMax) frames, and 64 MiB of all of them as PNG. --header goes to
            the origins of URLs alone.

            Less than 11 ms is shown as 100 ms, as everywhere on the web. GIF has hundredths of a
            second, WebP and PNG milliseconds. Encoders may join frames that are the same.

            Which stack is used is as for get, and so are --json and the statuses; where a frame
            cannot be had, error.details.frame has its number, counted from 0. Ctrl-C cancels.
            """,
        examples: [
            (
                "imagebus animate a.png b.png c.png -o abc.gif",
                "three files, a tenth of a second each"
            ),
            (
                "imagebus animate URL1 URL2 --resize 320x240 --mode fill --duration 2s -o all.webp",
                "a slide show of one size"
            ),
            (
                "imagebus animate a.png b.png --duration 40ms --duration 1s --loops 3 -o ab.png",
                "frames of different durations, three times"
            ),
        ])

    private static let frameOptions = [
        OptionDefinition(
            "duration", value: "TIME", separators: [",", " "],
            "how long a frame is shown, 1ms to 1h: once for all, or once for each\n"
                + "(\(AnimateOptions.durationMilliseconds)ms)"),
        OptionDefinition(
            "loops", value: "N",
            "how often all are shown, 0 to \(ImagebusClient.animationLoops.upperBound); "
                + "0: without end (0)"),
    ]

    private static let animationOutput =
        [
            OptionDefinition(
                "output", letter: "o", value: "FILE",
                "write the animation there, at once and whole; its ending says the\n"
                    + "format where --format does not; - is standard output"),
            OptionDefinition(
                "format", value: "F",
                of: .words(ImageFormat.encodable.filter(\.holdsFrames).map(\.name)),
                "gif, webp or png (as the name of -o says, else gif)"),
            OptionDefinition("json", "one JSON object; with -o - it goes to stderr"),
            progress,
            OptionDefinition(
                "delivery", value: "HOW", of: .words(GetOptions.deliveries.map(\.name)),
                "how it comes from the stack, as for get (auto)"),
        ] + outputOptions.filter { ["quality", "lossless"].contains($0.name) }
}
