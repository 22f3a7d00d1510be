import CommandLineInterface
import ImageModel
import Imagebus
import Linux
import StackAccess

/// `imagebus get --show`: an image or an animation in the terminal.
enum ShowCommand {
    static func run(_ options: GetOptions) -> Int32 {
        let report = GetReport(options: options)
        do throws(ImageError) {
            guard let screen = TerminalScreen.current else { throw noTerminal }
            try GetCommand.check(options.request.url)
            let interruption = try Interruption.started()
            let stack = try OpenStack(options.stack, interruption)
            defer { stack.end(interruption) }
            if !stack.isOwn { GetCommand.warn(options.stack) }
            let client = try stack.route.client(
                delivery: options.delivery,
                connectMilliseconds: stack.connectMilliseconds(
                    options.request.timeoutMilliseconds))
            defer { client.end() }
            let frames = frames(on: screen, options.graphics)
            let image = try open(options.request, frames, client, interruption)
            return try play(AnimationPlayer(image), frames, interruption, cancel: client.close)
        } catch {
            return report.tell(error, token: nil, totalMilliseconds: 0)
        }
    }

    private static var noTerminal: ImageError {
        ImageError(
            .invalidRequest,
            "--show draws on a terminal, and standard output is none: write the image with -o FILE")
    }

    /// The terminal is asked what it can do, unless that is known; its cells have pixels of their
    /// own.
    private static func frames(
        on screen: TerminalScreen, _ graphics: TerminalGraphics?
    ) -> ShownFrames {
        guard graphics == nil || graphics == .sixel else {
            return ShownFrames(screen, graphics ?? .blocks)
        }
        let answer = TerminalAnswer.ask()
        return ShownFrames(screen.with(cell: answer?.cell), graphics ?? .of(answer))
    }

    /// Frames have the size that has room.
    private static func open(
        _ request: ImageRequest, _ frames: ShownFrames, _ client: ImagebusClient,
        _ interruption: Interruption
    ) throws(ImageError) -> AnimatedImage {
        var request = request
        request.steps.append(.resize(frames.room, .fit))
        request.output = frames.output
        let (wanted, form) = (request, frames.form)
        let completion = try Completion<AnimatedImage>.opened()
        completion.start { () throws(ImageError) in
            try await AnimatedImage(wanted, from: client, as: form)
        }
        return try completion.wait(interruption, cancel: client.close)
    }

    /// Until all loops were shown, Ctrl-C or a key; the exit status.
    private static func play(
        _ player: AnimationPlayer, _ frames: ShownFrames, _ interruption: Interruption,
        cancel: () -> Void
    ) throws(ImageError) -> Int32 {
        let keys = TerminalKeys()
        defer { withExtendedLifetime(keys) {} }
        let start = MonotonicClock.now()
        var shown: Int?
        player.play()
        while true {
            let now = Duration.nanoseconds(Int64(MonotonicClock.now() - start))
            let frame = try next(player, at: now, interruption, cancel)
            if frame.index != shown, try !frames.draw(frame) { return OutputError.unreadStatus }
            shown = frame.index
            guard player.playbackState == .playing, let left = player.untilNextFrame else {
                return 0
            }
            let milliseconds = Int((left / .milliseconds(1)).rounded(.up))
            let typed = try wait(
                for: keys == nil ? [] : [0], max(1, milliseconds), interruption)
            if interruption.count > 0 { return ErrorCode.cancelled.rule.exitStatus }
            if typed { return 0 }
        }
    }

    private static func next(
        _ player: AnimationPlayer, at time: Duration, _ interruption: Interruption,
        _ cancel: () -> Void
    ) throws(ImageError) -> AnimationFrame {
        let completion = try Completion<AnimationFrame>.opened()
        completion.start { () throws(ImageError) in try await player.frame(at: time) }
        return try completion.wait(interruption, cancel: cancel)
    }

    private static func wait(
        for numbers: [Int32], _ milliseconds: Int, _ interruption: Interruption
    ) throws(ImageError) -> Bool {
        do throws(Errno) {
            return try !interruption.wait(for: numbers, milliseconds: milliseconds).isEmpty
        } catch {
            throw ImageError(.internalError, "the wait for the next frame failed (\(error))")
        }
    }
}
