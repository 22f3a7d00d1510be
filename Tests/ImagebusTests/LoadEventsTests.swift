import Model
import Testing

@testable import Imagebus

/// The events that a load reports to subscribers, early or late.
@Suite struct LoadEventsTests {
    private let token = Token(Identifier128(high: 0, low: 1))
    private let task: LoadTask

    init() throws { task = LoadTask(token: token, commands: try CommandQueue(commandsMax: 4)) }

    private func partial(_ bytes: UInt64) -> ImageResponse {
        var response = ImageResponse.image("k")
        response.arrivedBytes = bytes
        return response
    }

    private func progress(_ received: UInt64, pages: Int? = nil) -> RequestProgress {
        let info = pages.map {
            ImageInfo(format: .gif, size: PixelSize(width: 1, height: 1), pages: $0)
        }
        return RequestProgress(token: token, received: received, expected: 9, info: info)
    }

    private func names(_ events: AsyncStream<LoadEvent>) async -> [String] {
        var names: [String] = []
        for await event in events {
            switch event {
            case .progress(let progress): names.append("progress \(progress.received)")
            case .info(let info): names.append("info \(info.pages)")
            case .partial(let image): names.append("partial \(image.arrivedBytes ?? 0)")
            case .cached: names.append("cached")
            case .end: names.append("end")
            }
        }
        return names
    }

    @Test func allIsToldInItsOrderAndTheHeaderWhereItSaysMore() async {
        let events = task.events
        task.receivedProgress(progress(1))
        task.receivedProgress(progress(2, pages: 1))
        task.receivedProgress(progress(3, pages: 1))
        task.receivedPartial(partial(3))
        task.receivedProgress(progress(4, pages: 2))
        task.finish(.failure(ImageError(.cancelled, "as told")))
        task.receivedPartial(partial(5))
        let reported = await names(events)
        #expect(
            reported == [
                "progress 1", "info 1", "progress 2", "progress 3", "partial 3", "info 2",
                "progress 4", "end",
            ])
    }

    @Test func whoComesLateHearsTheNewestOfEachKindFirst() async {
        let first = task.events
        task.receivedProgress(progress(1, pages: 1))
        task.receivedPartial(partial(1))
        task.receivedProgress(progress(2, pages: 3))
        task.receivedPartial(partial(2))
        let late = task.events
        task.receivedProgress(progress(7, pages: 3))
        task.finish(.success(partial(9)))
        #expect(await names(late) == ["info 3", "progress 2", "partial 2", "progress 7", "end"])
        #expect(await names(first).last == "end")
        #expect(await names(task.events) == ["end"], "of what has ended only the end is left")
    }

    @Test func partialImagesEndWithTheLoadAndTheNewestWaits() async {
        let partials = task.partials
        var seen = partials.makeAsyncIterator()
        task.receivedPartial(partial(4))
        #expect(await seen.next()?.arrivedBytes == 4)
        task.finish(.success(partial(9)))
        #expect(await seen.next() == nil)
    }
}
