internal import ImageModel
internal import Linux
internal import Messages

// Directories in which a cache looks for what it does not have itself (SEMANTICS §5.18).
extension CacheStage {
    /// Looks in these directories from now on, by the name of the cache; empty: the default one.
    func follow(_ directories: [String: [String]]) {
        readOnlyPaths = directories.filter { !$0.value.isEmpty }
        checkDirectories()
    }

    /// Looks whether the directories are there: one that comes is used without a restart.
    func checkDirectories() {
        guard !isChecking, !readOnlyPaths.isEmpty || readOnly != nil else { return }
        if readOnly == nil { readOnly = try? Self.readOnlyThread(inbox) }
        let paths = Set(readOnlyPaths.values.joined()).sorted()
        isChecking = ask(.check(paths), .checking)
    }

    private static func readOnlyThread(
        _ inbox: Inbox
    ) throws(Errno) -> WorkThread<ReadOnlyRequest, ReadOnlyAnswer> {
        try WorkThread(name: "cache-further", requestsMax: requestsMax) {
            let folders = ReadOnlyFolders()
            return { folders.perform($0) }
        } deliver: {
            inbox.put(.readOnly($0))
        }
    }

    // MARK: - Queries

    /// Both tiers have nothing of a key: the directories of its cache are asked.
    func lookFurther(_ job: CacheJob, _ work: QueryWork, _ now: UnixTime) {
        let name = CacheKey.cache(inStored: work.key)
        guard work.tiers.contains(.disk), let paths = readOnlyPaths[name], readOnly != nil,
            !readOnlyStall.isStalled
        else {
            return miss(job, work)
        }
        // What a stack without named caches made answers under any name.
        let texts = name.isEmpty ? [work.key] : [work.key, CacheKey.moved(work.key, to: "")]
        let request = ReadOnlyWork.look(
            texts, in: paths, bytesMax: policy.memoryBytesMax, home(work))
        if !ask(request, .lookingFurther(job, work)) { answer(job, .failed(Self.tooMuchWaits)) }
    }

    /// The thread of the directories has answered.
    func answered(_ answer: ReadOnlyAnswer, _ now: UnixTime) {
        readOnlyStates = answer.states
        switch (pending.removeValue(forKey: answer.ticket), answer.result) {
        case (.checking, _): isChecking = false
        // Another query may have brought it into memory meanwhile (SEMANTICS §5.2).
        case (.lookingFurther(let job, let work), _)
        where work.tiers.contains(.memory) && answerFromMemory(job, work, now): break
        case (.lookingFurther(let job, let work), .fetched(let entry, _))
        where entry.row.metadata.isOutdated(under: entry.text): miss(job, work)
        case (.lookingFurther(let job, let work), .located(let entry))
        where entry.row.metadata.isOutdated(under: entry.text): miss(job, work)
        case (.lookingFurther(let job, let work), .fetched(let entry, let body)):
            foundFurther(entry, body, job, work, now)
        case (.lookingFurther(let job, let work), .located(let entry)):
            locatedFurther(entry, job, work, now)
        case (.lookingFurther(let job, let work), _): miss(job, work)
        case (.readingFurther(let job, let work, let entry, let body), .read(true)):
            foundFurther(entry, body, job, work, now)
        case (.readingFurther(let job, let work, _, _), _): miss(job, work)
        default: break
        }
    }

    private func locatedFurther(
        _ entry: ReadOnlyEntry, _ job: CacheJob, _ work: QueryWork, _ now: UnixTime
    ) {
        do throws(ImageError) {
            let body = try reserve(work, length: entry.row.bodyLength)
            let why = PendingWork.readingFurther(job, work, entry, body)
            if !ask(.read(entry, body), why) { throw Self.tooMuchWaits }
        } catch  where error.code == .limitExceeded {
            // Larger than memory: the origin is asked for what may be smaller by now.
            miss(job, work)
        } catch {
            answer(job, .failed(error))
        }
    }

    /// It enters memory like a hit of the disk, and no disk: it is there again the next time.
    private func foundFurther(
        _ entry: ReadOnlyEntry, _ body: Body, _ job: CacheJob, _ work: QueryWork, _ now: UnixTime
    ) {
        var work = work
        // Stored since it was looked up: these bytes must not take the place of those.
        if memory.contains(work.key, now: now) || writeBehind.write(of: work.key) != nil {
            work.promotes = false
        }
        readOnlyHits[entry.path, default: 0] += 1
        let finding = Finding(
            tier: .disk, metadata: entry.row.metadata, expires: nil, stored: entry.row.stored)
        found(body, job, work, finding, now)
    }

    // MARK: - Metrics

    /// Why nothing can be read from any of the directories.
    private var whyNoDirectories: String? {
        guard readOnly != nil else {
            return "no thread can be started for it: give the cache more processes"
        }
        guard readOnlyStall.isStalled else { return nil }
        return "a read-only directory does not answer: check its file system"
    }

    /// The directories, by cache in the order in which they are asked.
    var directoryStatistics: [CacheStatistics.Directory] {
        readOnlyPaths.sorted { $0.key < $1.key }.flatMap { name, paths in
            paths.map { path in
                let state = readOnlyStates[path]
                let reason =
                    whyNoDirectories ?? state.map { $0.reason ?? "" } ?? "it was not looked at yet"
                return CacheStatistics.Directory(
                    cache: name, path: path, reason: reason, hits: readOnlyHits[path] ?? 0,
                    damaged: state?.damaged ?? 0)
            }
        }
    }
}
